// Tests mayfly-dynamodb/jest and its preset in projects that Jest 30 and Jest 29 run.

import assert from "node:assert/strict";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";

import { jest, killed, node, project, root } from "./project.mjs";

const config = 'module.exports = { preset: "mayfly-dynamodb" };';
const head = `
const { PutCommand, ScanCommand } = require("@aws-sdk/lib-dynamodb");
const { openWorld, runServer } = require("mayfly-dynamodb/jest");
`;
const sharesNothing = `${head}
test.each([1, 2, 3])("alone %i", async () => {
  const world = await openWorld();
  await world.createTable("carts", { key: "id" });
  await world.documents.send(new PutCommand({ TableName: "carts", Item: { id: world.account } }));
  const { Items } = await world.documents.send(new ScanCommand({ TableName: "carts" }));
  expect(Items).toEqual([{ id: world.account }]);
});
test("the run's server", async () => {
  console.log("url=" + (await runServer()).url + "=");
});
`;

for (const workers of [1, 2]) {
  test(`with ${workers} workers, tests share one server and nothing else`, async (t) => {
    const directory = project(t, { "jest.config.js": config, "a.test.js": sharesNothing, "b.test.js": sharesNothing });
    const { status, output } = await jest(directory, workers === 1 ? "--runInBand" : "--maxWorkers=2");
    assert.equal(status, 0, output);
    assert.match(output, /Tests: +8 passed/);
    const urls = [...output.matchAll(/url=(\S+)=/g)].map(([, url]) => url);
    assert.equal(urls.length, 2);
    assert.equal(urls[0], urls[1]);
    await assert.rejects(fetch(urls[0]), "the server ended with the run");
    assert.doesNotMatch(output, /did not exit|open handle|teardown/i);
  });
}

test("the preset works with Jest 29", async (t) => {
  const directory = project(t, { "jest.config.js": config, "a.test.js": sharesNothing }, join(root, "jest-29"));
  const { status, output } = await node(directory, [join(root, "jest-29/node_modules/jest/bin/jest.js")]);
  assert.equal(status, 0, output);
  assert.match(output, /Tests: +4 passed/);
});

test("a world opened in a test ends with the test, and one opened in beforeAll ends with the file", async (t) => {
  const { status, output } = await jest(
    project(t, {
      "jest.config.js": config,
      "a.test.js": `${head}
        let ofFile, ofTest;
        const tables = async (world) => Object.keys((await world.control("GET", "/ttl")).tables);
        beforeAll(async () => {
          ofFile = await openWorld();
          await ofFile.createTable("carts", { key: "id" });
        });
        test("a test opens a world", async () => {
          ofTest = await openWorld();
          await ofTest.createTable("carts", { key: "id" });
        });
        test("the world of the previous test is gone", async () => {
          expect(await tables(ofTest)).toEqual([]);
          expect(await tables(ofFile)).toEqual(["carts"]);
        });
      `,
    }),
  );
  assert.equal(status, 0, output);
  assert.match(output, /Tests: +2 passed/);
});

test("follow moves Date with the world's clock, and the real Date returns after the test", async (t) => {
  const { status, output } = await jest(
    project(t, {
      "jest.config.js": config,
      "a.test.js": `${head}
        test("an hour later", async () => {
          const world = await openWorld({ frozen: "2031-01-01T00:00:00Z", follow: true });
          expect(new Date().toISOString()).toBe("2031-01-01T00:00:00.000Z");
          const snapshot = await world.snapshot();
          await world.clock.advance("1h");
          expect(new Date().toISOString()).toBe("2031-01-01T01:00:00.000Z");
          await snapshot.restore();
          expect(new Date().toISOString()).toBe("2031-01-01T00:00:00.000Z");
        });
        test("today again", () => expect(new Date().getUTCFullYear()).not.toBe(2031));
      `,
    }),
  );
  assert.equal(status, 0, output);
  assert.match(output, /Tests: +2 passed/);
});

test("only a failed test shows the server's log", async (t) => {
  const { status, output } = await node(
    project(t, {
      "jest.config.js": config,
      "a.test.js": `${head}
        test("passes", async () => { await openWorld(); });
        test("fails", async () => {
          const world = await openWorld();
          await world.createTable("carts", { key: "id" });
          expect(1).toBe(2);
        });
      `,
    }),
    [join(root, "node_modules/jest/bin/jest.js")],
    { MAYFLY_LOG_LEVEL: "debug" },
  );
  assert.equal(status, 1);
  assert.match(output, /Mayfly's log:[^]*CreateTable/);
  assert.equal(output.match(/Mayfly's log:/g).length, 1, output);
});

test("without the preset, the error says to set it", async (t) => {
  const { status, output } = await jest(
    project(t, { "jest.config.js": "module.exports = {};", "a.test.js": `${head} test("a", () => openWorld());` }),
  );
  assert.equal(status, 1);
  assert.match(output, /No Mayfly server was started: set preset: "mayfly-dynamodb" in the Jest configuration\./);
});

test("withMayfly adds worlds to another environment", async (t) => {
  const { status, output } = await jest(
    project(t, {
      "jest.config.js": `module.exports = { preset: "mayfly-dynamodb", testEnvironment: "./environment.js" };`,
      "environment.js": `
        const { withMayfly } = require("mayfly-dynamodb/jest/environment");
        const { TestEnvironment } = require("jest-environment-node");
        module.exports = withMayfly(class extends TestEnvironment {
          async setup() { await super.setup(); this.global.mine = 1; }
        });
      `,
      "a.test.js": `${head} test("a world", async () => { await openWorld(); expect(mine).toBe(1); });`,
    }),
  );
  assert.equal(status, 0, output);
});

// --- projects that were written for @shelf/jest-dynamodb

const port = await freePort();
const tables = `[{
  TableName: "files",
  KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
  AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
  ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 },
}]`;
const theirTest = `
const { DynamoDB } = require("@aws-sdk/client-dynamodb");
const { DynamoDBDocument } = require("@aws-sdk/lib-dynamodb");

const isTest = process.env.JEST_WORKER_ID;
const ddb = DynamoDBDocument.from(new DynamoDB({
  ...(isTest && {
    endpoint: "http://localhost:${port}",
    tls: false,
    region: "local-env",
    credentials: { accessKeyId: "fakeMyKeyId", secretAccessKey: "fakeSecretAccessKey" },
  }),
}), { marshallOptions: { convertEmptyValues: true } });

it("should insert item into table", async () => {
  await ddb.put({ TableName: "files", Item: { id: "1", hello: "world" } });
  const { Item } = await ddb.get({ TableName: "files", Key: { id: "1" } });
  expect(Item).toEqual({ id: "1", hello: "world" });
});
`;

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((listening) => server.once("listening", listening));
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}

const theirConfigs = {
  "an object": { "jest-dynamodb-config.js": `module.exports = { tables: ${tables}, port: ${port} };` },
  "a function": { "jest-dynamodb-config.js": `module.exports = () => ({ tables: ${tables}, port: ${port} });` },
  "an async function": {
    "jest-dynamodb-config.js": `module.exports = async () => ({ tables: ${tables}, port: ${port} });`,
  },
  "an ES module": {
    "package.json": '{"type": "module"}',
    "jest.config.js": 'export default { preset: "mayfly-dynamodb" };',
    "jest-dynamodb-config.js": `export default { tables: ${tables}, port: ${port} };`,
    "a.test.js": undefined,
    "a.test.cjs": theirTest,
  },
  "an object with every setting": {
    "jest-dynamodb-config.js": `module.exports = {
      tables: ${tables}, port: ${port}, hostname: "localhost",
      options: ["-sharedDb", "-inMemory", "-delayTransientStatuses", "-dbPath", "./db"],
      clientConfig: { credentials: { accessKeyId: "fakeMyKeyId", secretAccessKey: "x" }, region: "eu-west-1" },
      installerConfig: { installPath: "./dynamodb", downloadUrl: "https://example.com/dynamodb.tar.gz" },
    };`,
  },
};
for (const [what, files] of Object.entries(theirConfigs)) {
  test(`a jest-dynamodb-config.js that is ${what} works unchanged`, async (t) => {
    const all = { "jest.config.js": config, "a.test.js": theirTest, ...files };
    const there = Object.fromEntries(Object.entries(all).filter(([, text]) => text !== undefined));
    const { status, output } = await jest(project(t, there));
    assert.equal(status, 0, output);
    assert.match(output, /Tests: +1 passed/);
    const told = /^mayfly: ignored in jest-dynamodb-config\.js: installerConfig, -dbPath \.\/db$/m;
    assert.equal(told.test(output), what === "an object with every setting", output);
  });
}

test("JEST_DYNAMODB_CONFIG selects another file, and a missing file is reported", async (t) => {
  const directory = project(t, {
    "jest.config.js": config,
    "elsewhere/dynamodb.js": `module.exports = { tables: ${tables}, port: ${port} };`,
    "a.test.js": theirTest,
  });
  const bin = join(root, "node_modules/jest/bin/jest.js");
  const there = await node(directory, [bin], { JEST_DYNAMODB_CONFIG: "elsewhere/dynamodb.js" });
  assert.equal(there.status, 0, there.output);
  const absent = await node(directory, [bin], { JEST_DYNAMODB_CONFIG: "nowhere.js" });
  assert.equal(absent.status, 1);
  assert.match(absent.output, /JEST_DYNAMODB_CONFIG is set to nowhere\.js, but there is no such file\./);
});

test("a run reports that the port of jest-dynamodb-config.js is in use", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  await new Promise((listening) => other.once("listening", listening));
  t.after(() => other.close());
  const taken = other.address().port;
  const { status, output } = await jest(
    project(t, {
      "jest.config.js": config,
      "jest-dynamodb-config.js": `module.exports = { tables: [], port: ${taken} };`,
      "a.test.js": theirTest,
    }),
  );
  assert.equal(status, 1);
  assert.match(output, new RegExp(`127\\.0\\.0\\.1:${taken} is in use\\. Stop the program that listens there`));
});

test("a hostname other than loopback and a file without tables are rejected", async (t) => {
  for (const [exported, message] of [
    ["{ tables: [], hostname: 'dynamodb' }", /hostname must be a loopback address such as localhost, got dynamodb\./],
    ["{ table: [] }", /jest-dynamodb-config\.js must export an object with tables, or a function that returns one\./],
  ]) {
    const files = { "jest.config.js": config, "jest-dynamodb-config.js": `module.exports = ${exported};` };
    const { status, output } = await jest(project(t, { ...files, "a.test.js": theirTest }));
    assert.equal(status, 1);
    assert.match(output, message);
  }
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

test("a failing handler fails only its own test or file", async (t) => {
  const { status, output } = await jest(
    project(t, {
      "jest.config.js": config,
      "a.test.js": `${head} ${failing}
        test("the error is not read", async () => { await failed(await openWorld()); });
        test("may fail", async () => { await failed(await openWorld(), { mayFail: true }); });
        test("is settled", async () => {
          const world = await openWorld();
          await failed(world);
          await world.settle();
        });
      `,
      "b.test.js": `${head} ${failing}
        let world;
        beforeAll(async () => { world = await openWorld(); });
        test("passes", async () => { await failed(world); });
      `,
    }),
  );
  assert.equal(status, 1, output);
  assert.match(output, /Test Suites: 2 failed, 2 total\n/);
  assert.match(output, /Tests: +2 failed, (1|2) passed/);
  assert.match(output, /● the error is not read\n\n +HandlerError: Function reminder failed \d+ times?\. /);
  assert.match(output, /● is settled\n\n +HandlerError: Function reminder /);
  assert.match(output, /● Test suite failed to run\n\n +HandlerError: Function reminder /);
  assert.match(output, /console\.error\n +Mayfly: the function "reminder" failed: RangeError: no cart\n +at .*fails/);
  assert.match(output, /Cause:\n +RangeError: no cart/);
});

for (const workers of ["--runInBand", "--maxWorkers=2"]) {
  test(`with ${workers}, tests after a server's death get a new server`, async (t) => {
    const kill = `
      const { readFileSync } = require("node:fs");
      const state = () => JSON.parse(readFileSync(process.env.MAYFLY_SERVER_STATE));
      const dies = async () => {
        const world = await openWorld();
        await world.createTable("carts");
        process.kill(state().server.pid, "SIGKILL");
        await world.documents.send(new PutCommand({ TableName: "carts", Item: { id: "1" } }));
      };
      const next = async () => {
        while (state().deaths.length === 0) await new Promise((resume) => setTimeout(resume, 1));
        const world = await openWorld();
        await world.createTable("carts");
        expect((await world.clock.advance("1h")).expired).toBe(0);
        expect((await runServer()).url).toBe(world.url);
        // Files that run later in the same process get the new server's URL.
        if (${workers === "--runInBand"}) await fetch(process.env.MAYFLY_URL + "/_mayfly/health");
      };
    `;
    const next = `${head} ${kill} test("next", next);`;
    const { status, output } = await jest(
      project(t, {
        "jest.config.js": config,
        "jest-dynamodb-config.js": `module.exports = { tables: ${tables}, port: 0 };`,
        "a.test.js": `${head} ${kill} test("dies", dies); test("next in the same file", next);`.replace(/if \(true\).*/, ""),
        "b.test.js": next,
        "c.test.js": next,
        "order.js": `
          const Sequencer = require("@jest/test-sequencer").default;
          module.exports = class extends Sequencer { sort(tests) { return [...tests].sort((a, b) => (a.path < b.path ? -1 : 1)); } };
        `,
      }),
      workers,
      "--testSequencer=./order.js",
    );
    assert.equal(status, 1);
    assert.match(output, /Tests: +1 failed, 3 passed/);
    const died = `Mayfly's server ${killed} before it answered PutItem\\. Its log:\n +\\d{4}-`;
    assert.match(output, new RegExp(`● dies\n\n.*${died}`));
  });
}

test("a failed test shows items whose TTL can never fire", async (t) => {
  const { status, output } = await jest(
    project(t, {
      "jest.config.js": config,
      "a.test.js": `${head}
        test("fails", async () => {
          const world = await openWorld();
          await world.createTable("carts", { ttl: "ttl" });
          await world.documents.send(new PutCommand({ TableName: "carts", Item: { id: "1", ttl: "1795590184" } }));
          expect(1).toBe(2);
        });
      `,
    }),
  );
  assert.equal(status, 1);
  assert.match(output, /Mayfly found items with a suspect TTL:\n +carts \{"id":\{"S":"1"\}\}: .*string.*1795590184/);
});
