// Tests mayfly-dynamodb/node-test in test files that node:test runs.

import assert from "node:assert/strict";
import { test } from "node:test";

import { gone, killed, node, project } from "./project.mjs";

// Node 18 cannot mock Date, and does not tell a test's hooks whether the test failed.
const old = Number(process.versions.node.split(".")[0]) < 20;

const head = `
import assert from "node:assert/strict";
import { test } from "node:test";
import { GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { fileServer, openWorld } from "mayfly-dynamodb/node-test";
`;

test("each test has its own world, and each file has a server that exits after the file", async (t) => {
  const directory = project(t, {
    "a.test.mjs": `${head}
      const accounts = new Set();
      for (const n of [1, 2, 3]) {
        test("the same table for each, " + n, async (t) => {
          const world = await openWorld(t);
          accounts.add(world.account);
          await world.createTable("carts", { key: "id" });
        });
      }
      test("three worlds", async () => {
        assert.equal(accounts.size, 3);
        console.log("pid=" + (await fileServer()).pid);
      });
    `,
  });
  const { status, output } = await node(directory, ["--test", "--test-reporter=tap"]);
  assert.equal(status, 0, output);
  assert.match(output, /# pass 4\n/);
  await gone(Number(/pid=(\d+)/.exec(output)[1]));
});

test("follow moves Date with the world's clock, and the real Date returns after the test", async (t) => {
  const directory = project(t, {
    "a.test.mjs": `${head}
      test("an hour later", async (t) => {
        const world = await openWorld(t, { frozen: "2031-01-01T00:00:00Z", follow: true });
        assert.equal(new Date().toISOString(), "2031-01-01T00:00:00.000Z");
        const snapshot = await world.snapshot();
        await world.clock.advance("1h");
        assert.equal(new Date().toISOString(), "2031-01-01T01:00:00.000Z");
        await snapshot.restore();
        assert.equal(new Date().toISOString(), "2031-01-01T00:00:00.000Z");
      });
      test("today again", () => assert.notEqual(new Date().getUTCFullYear(), 2031));
    `,
  });
  const { status, output } = await node(directory, ["--test", "--test-reporter=tap"]);
  if (old) return assert.match(output, /follow: true needs Node 20\.11 or later, which can mock Date; this is v18/);
  assert.equal(status, 0, output);
  assert.match(output, /# pass 2\n/);
});

test("a failed test shows the server's log", async (t) => {
  const directory = project(t, {
    "a.test.mjs": `${head}
      test("fails", async (t) => {
        const world = await openWorld(t, { server: { args: ["--log-level", "debug"] } });
        await world.createTable("carts", { key: "id" });
        assert.fail("as it should");
      });
    `,
  });
  const { status, output } = await node(directory, ["--test", "--test-reporter=tap"]);
  assert.equal(status, 1);
  assert.equal(/Mayfly's log:[^]*CreateTable/.test(output), !old, output);
});

test("the entry point can be loaded with require", async (t) => {
  const directory = project(t, {
    "a.test.cjs": `
      const { test } = require("node:test");
      const { openWorld } = require("mayfly-dynamodb/node-test");
      test("a world", async (t) => { await openWorld(t); });
    `,
  });
  const { status, output } = await node(directory, ["--test", "--test-reporter=tap"]);
  assert.equal(status, 0, output);
});

// Defines the function `failed`, which returns when a handler of the given world has failed.
const failing = `
  const fails = () => { throw new RangeError("no cart"); };
  async function failed(world, options) {
    await world.createTable("carts");
    const reminder = await world.function("reminder", fails, options);
    await reminder.consume("carts");
    await world.documents.send(new PutCommand({ TableName: "carts", Item: { id: "1" } }));
    while (reminder.invocations.length === 0) await new Promise((resume) => setImmediate(resume));
  }
`;

test("a failing handler fails only its own test", async (t) => {
  const directory = project(t, {
    "a.test.mjs": `${head} ${failing}
      test("the error is not read", async (t) => { await failed(await openWorld(t)); });
      test("may fail", async (t) => { await failed(await openWorld(t), { mayFail: true }); });
      test("is settled", async (t) => {
        const world = await openWorld(t);
        await failed(world);
        await world.settle();
      });
    `,
  });
  const { status, output } = await node(directory, ["--test", "--test-reporter=tap"]);
  assert.equal(status, 1, output);
  assert.match(output, /^not ok 1 - the error is not read$/m);
  assert.match(output, /^ok 2 - may fail$/m);
  assert.match(output, /^not ok 3 - is settled$/m);
  assert.match(output, /Mayfly: the function "reminder" failed: RangeError: no cart\n.*at Object\.fails/);
  assert.match(output, /error: '?Function reminder failed \d+ times?\. Its last error was RangeError: no cart\./);
});

test("a test after a server's death gets a new server", async (t) => {
  const directory = project(t, {
    "a.test.mjs": `${head}
      test("dies", async (t) => {
        const world = await openWorld(t);
        process.kill((await fileServer()).pid, "SIGKILL");
        await world.createTable("carts");
      });
      test("next", async (t) => {
        const world = await openWorld(t);
        await world.createTable("carts");
        console.log("pid=" + (await fileServer()).pid);
      });
    `,
  });
  const { status, output } = await node(directory, ["--test", "--test-reporter=tap"]);
  assert.equal(status, 1);
  assert.match(output, /^not ok 1 - dies$/m);
  assert.ok(output.includes(`Mayfly's server ${killed} before it answered CreateTable. Its log:`), output);
  assert.match(output, /^ok 2 - next$/m);
  await gone(Number(/pid=(\d+)/.exec(output)[1]));
});

test("a failed test shows items whose TTL can never fire", { skip: old }, async (t) => {
  const directory = project(t, {
    "a.test.mjs": `${head}
      test("fails", async (t) => {
        const world = await openWorld(t);
        await world.createTable("carts", { ttl: "ttl" });
        await world.documents.send(new PutCommand({ TableName: "carts", Item: { id: "1", ttl: "1795590184" } }));
        assert.fail("as it should");
      });
    `,
  });
  const { status, output } = await node(directory, ["--test", "--test-reporter=tap"]);
  assert.equal(status, 1);
  assert.match(output, /# Mayfly found items with a suspect TTL:\n# +carts \{"id":\{"S":"1"\}\}: .*string.*1795590184/);
});
