// Tests mayfly-dynamodb/vitest in projects that Vitest runs.

import assert from "node:assert/strict";
import { test } from "node:test";

import { killed, project, vitest } from "./project.mjs";

const config = (more = "") => `
import { defineConfig } from "vitest/config";
export default defineConfig({ test: { globalSetup: ["mayfly-dynamodb/vitest/setup"], ${more} } });
`;
const head = `
import { describe, expect, inject } from "vitest";
import { GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { openWorld, runServer, test, testWith } from "mayfly-dynamodb/vitest";
`;
// These tests fail if two of them share data: each one creates the same table and checks its items.
const sharesNothing = `${head}
for (const n of [1, 2, 3]) {
  test.concurrent("alone " + n, async ({ world, documents, expect }) => {
    await world.createTable("carts", { key: "id" });
    await documents.send(new PutCommand({ TableName: "carts", Item: { id: world.account } }));
    const { Items } = await documents.send(new (await import("@aws-sdk/lib-dynamodb")).ScanCommand({ TableName: "carts" }));
    expect(Items).toEqual([{ id: world.account }]);
  });
}
test("the run's server was not started by this process", async () => {
  expect((await runServer()).pid).toBeUndefined();
  console.log("url=" + inject("mayfly").url + "=");
});
`;

for (const pool of ["threads", "forks", "vmThreads"]) {
  test(`in the pool ${pool}, tests share one server and nothing else`, async (t) => {
    const files = { "vitest.config.mjs": config(`pool: "${pool}", maxWorkers: 2, minWorkers: 2`) };
    for (const name of ["a", "b"]) files[`${name}.test.mjs`] = sharesNothing;
    const { status, output } = await vitest(project(t, files));
    assert.equal(status, 0, output);
    assert.match(output, /Tests +8 passed/);
    const urls = [...output.matchAll(/url=(\S+)=/g)].map(([, url]) => url);
    assert.equal(urls.length, 2);
    assert.equal(urls[0], urls[1]);
    await assert.rejects(fetch(urls[0]), "the server ended with the run");
  });
}

test("follow moves Date with the world's clock, and the real Date returns after the test", async (t) => {
  const { status, output } = await vitest(
    project(t, {
      "vitest.config.mjs": config(),
      "a.test.mjs": `${head}
        const later = testWith({ frozen: "2031-01-01T00:00:00Z", follow: true });
        later("an hour later", async ({ world, clock }) => {
          expect(new Date().toISOString()).toBe("2031-01-01T00:00:00.000Z");
          await world.createTable("carts", { key: "id", ttl: "ttl" });
          const snapshot = await world.snapshot();
          await clock.advance("1h");
          expect(new Date().toISOString()).toBe("2031-01-01T01:00:00.000Z");
          await snapshot.restore();
          expect(new Date().toISOString()).toBe("2031-01-01T00:00:00.000Z");
          const ttl = Math.floor(Date.now() / 1000) + 60;
          await world.documents.send(new PutCommand({ TableName: "carts", Item: { id: "1", ttl } }));
          expect((await clock.advance("2m")).expired).toBe(1);
        });
        test("today again", () => expect(new Date().getUTCFullYear()).not.toBe(2031));
      `,
    }),
  );
  assert.equal(status, 0, output);
  assert.match(output, /Tests +2 passed/);
});

test("only a failed test shows the server's log", async (t) => {
  const setup = `
    import { globalSetup } from "mayfly-dynamodb/vitest/setup";
    export default globalSetup({ args: ["--log-level", "debug"] });
  `;
  const { status, output } = await vitest(
    project(t, {
      "vitest.config.mjs": config().replace("mayfly-dynamodb/vitest/setup", "./setup.mjs"),
      "setup.mjs": setup,
      "a.test.mjs": `${head}
        test("passes", async ({ world }) => { await world.createTable("fine", { key: "id" }); });
        test("fails", async ({ world }) => {
          await world.createTable("carts", { key: "id" });
          expect(1).toBe(2);
        });
      `,
    }),
  );
  assert.equal(status, 1);
  assert.match(output, /Mayfly's log:[^]*CreateTable/);
  assert.equal(output.match(/Mayfly's log:/g).length, 1);
});

test("without the globalSetup, the error says to add it", async (t) => {
  const { status, output } = await vitest(
    project(t, { "a.test.mjs": `${head} test("a world", async ({ world }) => { expect(world).toBeDefined(); });` }),
  );
  assert.equal(status, 1);
  assert.match(output, /No Mayfly server was started: add globalSetup: \["mayfly-dynamodb\/vitest\/setup"\] to `test` in the Vitest/);
});

test("openWorld can open a world in beforeAll", async (t) => {
  const { status, output } = await vitest(
    project(t, {
      "vitest.config.mjs": config(),
      "a.test.mjs": `${head}
        import { afterAll, beforeAll } from "vitest";
        let world;
        beforeAll(async () => { world = await openWorld({ frozen: true }); });
        afterAll(() => world.close());
        test("is there", async () => { expect((await world.clock.state()).mode).toBe("frozen"); });
      `,
    }),
  );
  assert.equal(status, 0, output);
});

test("a failed start ends the run with the start's error message", async (t) => {
  const { status, output } = await vitest(
    project(t, {
      "vitest.config.mjs": config().replace("mayfly-dynamodb/vitest/setup", "./setup.mjs"),
      "setup.mjs": `
        import { globalSetup } from "mayfly-dynamodb/vitest/setup";
        export default globalSetup({ binary: "/not/there" });
      `,
      "a.test.mjs": `${head} test("a world", async ({ world }) => { expect(world).toBeDefined(); });`,
    }),
  );
  assert.equal(status, 1);
  assert.match(output, /The option binary is set to \/not\/there, but there is no such file\./);
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
  const { status, output } = await vitest(
    project(t, {
      "vitest.config.mjs": config(),
      "a.test.mjs": `${head} ${failing}
        test("the error is not read", async ({ world }) => { await failed(world); });
        test("may fail", async ({ world }) => { await failed(world, { mayFail: true }); });
        test("is settled", async ({ world }) => {
          await failed(world);
          await world.settle();
        });
      `,
    }),
  );
  assert.equal(status, 1, output);
  assert.match(output, /Tests +2 failed \| 1 passed/);
  assert.match(output, /FAIL +a\.test\.mjs > the error is not read\nHandlerError: Function reminder failed \d+ times?\. /);
  assert.match(output, /FAIL +a\.test\.mjs > is settled\nHandlerError: Function reminder /);
  assert.match(output, /Caused by: RangeError: no cart\n.* Object\.fails .*a\.test\.mjs/);
  assert.match(output, /stderr \| a\.test\.mjs > the error is not read\nMayfly: the function "reminder" failed: RangeError: no cart\n/);
});

for (const pool of ["threads", "forks"]) {
  test(`in the pool ${pool}, tests after a server's death get a new server`, async (t) => {
    const next = `${head}
      test("next", async ({ world, expect }) => {
        await world.createTable("carts");
        expect((await world.clock.advance("1h")).expired).toBe(0);
        console.log("url=" + world.url + "=");
      });
    `;
    const { status, output } = await vitest(
      project(t, {
        "vitest.config.mjs": config(`pool: "${pool}", maxWorkers: 1, minWorkers: 1`),
        "a.test.mjs": `${head}
          import { readFileSync } from "node:fs";
          test("dies", async ({ world }) => {
            await world.createTable("carts");
            process.kill(JSON.parse(readFileSync(inject("mayfly").stateFile)).server.pid, "SIGKILL");
            await world.documents.send(new PutCommand({ TableName: "carts", Item: { id: "1" } }));
          });
          ${next.slice(head.length)}
        `,
        "b.test.mjs": next,
        "c.test.mjs": next,
      }),
    );
    assert.equal(status, 1);
    assert.match(output, /Tests +1 failed \| 3 passed/);
    const died = `Mayfly's server ${killed} before it answered PutItem\\. Its log:\n +\\d{4}-`;
    assert.match(output, new RegExp(`FAIL +a\\.test\\.mjs > dies\n.*${died}`));
    const urls = new Set([...output.matchAll(/url=(\S+)=/g)].map(([, url]) => url));
    for (const url of urls) await assert.rejects(fetch(url), "the server ended with the run");
  });
}

test("a failed test shows items whose TTL can never fire", async (t) => {
  const { status, output } = await vitest(
    project(t, {
      "vitest.config.mjs": config(),
      "a.test.mjs": `${head}
        test("fails", async ({ world, documents }) => {
          await world.createTable("carts", { ttl: "ttl" });
          await documents.send(new PutCommand({ TableName: "carts", Item: { id: "1", ttl: "1795590184" } }));
          expect(1).toBe(2);
        });
      `,
    }),
  );
  assert.equal(status, 1);
  assert.match(output, /Mayfly found items with a suspect TTL:\n +carts \{"id":\{"S":"1"\}\}: .*string.*1795590184/);
});
