// Tests worlds: separate accounts with their own tables, streams and clocks.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { ListStreamsCommand } from "@aws-sdk/client-dynamodb-streams";
import { GetCommand, PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { MayflyError, Server, WaitTimeoutError } from "mayfly-dynamodb";

import { node, project } from "./project.mjs";

const start = new Date("2031-01-01T00:00:00Z");
const hour = 3600;
const startSeconds = start.getTime() / 1000;

let server;
before(async () => (server = await Server.start()));
after(() => server.close());

async function open(t, options = {}) {
  const world = await server.world({ frozen: start, ...options });
  t.after(() => world.close());
  return world;
}

async function withCarts(t, options) {
  const world = await open(t, options);
  await world.createTable("carts", { ttl: "ttl" });
  return world;
}

const put = (world, Item) => world.documents.send(new PutCommand({ TableName: "carts", Item }));
const get = async (world, id) => (await world.documents.send(new GetCommand({ TableName: "carts", Key: { id } }))).Item;

test("worlds are isolated even if their tables have the same names", async (t) => {
  const [one, other] = [await withCarts(t), await withCarts(t)];
  await put(one, { id: "1", of: "one" });
  assert.equal(await get(other, "1"), undefined);
  assert.deepEqual(await get(one, "1"), { id: "1", of: "one" });
  assert.match(one.account, /^[1-9]\d{11}$/);
  assert.notEqual(one.account, other.account);
});

test("an advance deletes expired items and reports them", async (t) => {
  const world = await withCarts(t);
  await put(world, { id: "1", ttl: startSeconds + hour });
  await put(world, { id: "2", ttl: startSeconds + 3 * hour });
  const advanced = await world.clock.advance("2h");
  assert.deepEqual(advanced, {
    now: new Date("2031-01-01T02:00:00Z"),
    expired: 1,
    tables: { carts: 1 },
    nextExpiry: new Date("2031-01-01T03:00:00.001Z"),
    never: {},
    bornExpired: {},
  });
  assert.equal(await get(world, "1"), undefined);
  assert.deepEqual(await get(world, "2"), { id: "2", ttl: startSeconds + 3 * hour });
});

test("a clock moves by a span, to a time, and to the next expiry", async (t) => {
  const { clock } = await withCarts(t);
  const at = async () => (await clock.now()).toISOString();
  await clock.advance("1h30m");
  assert.equal(await at(), "2031-01-01T01:30:00.000Z");
  await clock.advance({ hours: 1, milliseconds: 5 });
  assert.equal(await at(), "2031-01-01T02:30:00.005Z");
  await clock.advance(new Date("2031-01-02T00:00:00Z"));
  assert.equal(await at(), "2031-01-02T00:00:00.000Z");
  await clock.advance("2031-01-03T00:00:00Z");
  assert.equal(await at(), "2031-01-03T00:00:00.000Z");
  assert.match((await clock.advance("next-expiry")).message, /^No item is going to expire/);
  await clock.set("2031-01-04T00:00:00Z");
  assert.equal(await at(), "2031-01-04T00:00:00.000Z");
  assert.equal(await clock.epochSeconds("1h"), Date.parse("2031-01-04T01:00:00Z") / 1000);
});

test("a clock can be real, frozen, or run at a rate", async (t) => {
  const world = await server.world();
  t.after(() => world.close());
  assert.equal((await world.clock.state()).mode, "real");
  await world.clock.rate(60);
  assert.deepEqual((({ mode, rate }) => ({ mode, rate }))(await world.clock.state()), { mode: "rate", rate: 60 });
  await world.clock.real();
  assert.equal((await world.clock.state()).mode, "real");
  await world.clock.freeze();
  const { now } = await world.clock.state();
  assert.deepEqual(await world.clock.now(), now);
});

test("a time span without a unit is rejected", async (t) => {
  const { clock } = await open(t);
  const message = / is not a time span\. Write it with its unit: "48h", "1h30m" or \{ hours: 48 \}\.$/;
  for (const span of ["3600", "-1h", "soon", { hour: 1 }, {}, { hours: "1" }, 3600, null]) {
    await assert.rejects(clock.advance(span), { name: "TypeError", message });
  }
});

test("an error of the control API is a MayflyError with type and status", async (t) => {
  const world = await withCarts(t);
  await assert.rejects(world.clock.set("2030-01-01T00:00:00Z"), (error) => {
    assert.ok(error instanceof MayflyError);
    assert.equal(error.type, "Conflict");
    assert.equal(error.status, 409);
    assert.match(error.message, /^The clock cannot go back while the account has tables: /);
    return true;
  });
  await assert.rejects(world.control("POST", "/clock/advance", { weeks: 1 }), { status: 400 });
});

test("waitFor returns the record of a removal, which says that the service removed the item", async (t) => {
  const world = await withCarts(t);
  await put(world, { id: "1", ttl: startSeconds + hour });
  await world.clock.advance("2h");
  const record = await world.waitFor("carts", { id: "1" }, { event: "REMOVE", by: "service", since: start });
  assert.equal(record.eventName, "REMOVE");
  assert.deepEqual(record.dynamodb.OldImage, { id: { S: "1" }, ttl: { N: String(startSeconds + hour) } });
  assert.deepEqual(record.userIdentity, { Type: "Service", PrincipalId: "dynamodb.amazonaws.com" });
});

test("a wait that times out lists the item's other changes", async (t) => {
  const world = await withCarts(t);
  await put(world, { id: "1" });
  const wait = world.waitFor("carts", { id: "1" }, { event: "REMOVE", since: start, timeoutSeconds: 0.05 });
  await assert.rejects(wait, (error) => {
    assert.ok(error instanceof WaitTimeoutError);
    assert.ok(error instanceof MayflyError);
    assert.equal(error.message, 'Timed out after 0.05 s: only other changes to carts/{"id": "1"}.');
    assert.deepEqual(error.records.map(({ eventName }) => eventName), ["INSERT"]);
    return true;
  });
});

test("a misspelled option is rejected", async (t) => {
  const world = await withCarts(t);
  for (const [call, message] of [
    [
      () => world.waitFor("carts", { id: "1" }, { evnt: "REMOVE" }),
      'waitFor("carts") has no option "evnt". Its options are event, by, since, timeoutSeconds.',
    ],
    [
      () => world.clock.advance("1h", { settel: true }),
      'advance() has no option "settel". Its options are settle, settleSeconds, ageStreams.',
    ],
    [() => world.settle({ seconds: 1 }), 'settle() has no option "seconds". Its options are settleSeconds.'],
    [
      () => world.function("reminder", () => {}, { mayfail: true }),
      'function("reminder") has no option "mayfail". Its options are timeoutSeconds, mayFail.',
    ],
  ]) {
    await assert.rejects(call, { name: "TypeError", message });
  }
});

test("the error of a wait that times out suggests the option since", async (t) => {
  const world = await withCarts(t);
  await put(world, { id: "1" });
  await assert.rejects(world.waitFor("carts", { id: "1" }, { event: "INSERT", timeoutSeconds: 0.05 }), (error) => {
    assert.ok(error instanceof WaitTimeoutError);
    assert.match(error.message, / Only changes after the call count; to accept earlier ones, set since\.$/);
    return true;
  });
});

test("keys are plain values or DynamoDB JSON, and other values are rejected", async (t) => {
  const world = await open(t);
  const types = { text: ["S", "1", { S: "1" }], number: ["N", 7, { N: "7" }], bytes: ["B", Buffer.from("b"), { B: "Yg==" }] };
  for (const [table, [type, plain, json]] of Object.entries(types)) {
    await world.createTable(table, { key: { name: "id", type } });
    for (const id of [plain, json]) assert.equal((await world.explain(table, { id })).reason, "ttl_disabled");
  }
  assert.equal((await world.explain("number", { id: 7n })).reason, "ttl_disabled");
  await assert.rejects(world.explain("text", { id: true }), {
    message: 'The key attribute "id" must be a string, a number or bytes.',
  });
});

test("ttl() returns a table's status, upcoming items and explanations, and sets its mode", async (t) => {
  const world = await withCarts(t);
  const ttl = world.ttl("carts");
  await put(world, { id: "1", ttl: startSeconds + hour });
  await put(world, { id: "2", ttl: (startSeconds + hour) * 1000 });
  const status = await ttl.status();
  assert.equal(status.status, "ENABLED");
  assert.equal(status.mode, "exact");
  assert.equal(status.pending, 1);
  assert.deepEqual(status.nextDue, new Date("2031-01-01T01:00:00.001Z"));
  assert.deepEqual(await ttl.upcoming(), [
    { key: { id: { S: "1" } }, due: new Date("2031-01-01T01:00:00.001Z"), expiresAt: new Date("2031-01-01T01:00:00.001Z") },
  ]);
  assert.equal((await ttl.explain({ id: "1" })).reason, "not_due");
  assert.equal((await world.explain("carts", { id: "2" })).reason, "milliseconds");

  assert.equal((await ttl.set("manual")).mode, "manual");
  await world.clock.advance("2h");
  assert.equal((await ttl.status()).due, 1);
  assert.equal(await ttl.sweep(), 1);
  assert.deepEqual((await ttl.set("aws", { delaySeconds: [600, 1200], seed: 3 })).delaySeconds, [600, 1200]);
});

test("a snapshot restores the world's items and clock", async (t) => {
  const world = await withCarts(t);
  await put(world, { id: "1", ttl: startSeconds + hour });
  const snapshot = await world.snapshot();
  await world.clock.advance("2h");
  assert.equal(await get(world, "1"), undefined);
  await snapshot.restore();
  assert.deepEqual(await get(world, "1"), { id: "1", ttl: startSeconds + hour });
  assert.deepEqual(await world.clock.now(), start);
  await world.restore(snapshot.id);
  await snapshot.delete();
  await assert.rejects(snapshot.restore(), { type: "NotFound", status: 404 });
});

test("fault rules apply until they are removed", async (t) => {
  const world = await withCarts(t);
  await world.faults([{ fault: "throttle", operation: "PutItem", table: "carts" }]);
  await assert.rejects(put(world, { id: "1" }), { name: "ProvisionedThroughputExceededException" });
  await assert.rejects(world.faults({ fault: "latency" }), {
    name: "TypeError",
    message: 'faults() takes an array of rules, such as [{ fault: "throttle" }]; [] removes all rules. Got {"fault":"latency"}.',
  });
  await assert.rejects(put(world, { id: "1" }), { name: "ProvisionedThroughputExceededException" });
  await world.faults([]);
  await put(world, { id: "1" });
});

test("an item renewed at a failpoint survives", async (t) => {
  const world = await withCarts(t);
  await put(world, { id: "1", ttl: startSeconds + hour });
  await world.armFailpoint("carts", { id: "1" });
  const advance = world.clock.advance("2h");
  while ((await world.failpoints())[0].state !== "waiting");
  await put(world, { id: "1", ttl: startSeconds + 9 * hour });
  await world.releaseFailpoints("carts", { id: "1" });
  assert.equal((await advance).expired, 0);
  assert.deepEqual(await get(world, "1"), { id: "1", ttl: startSeconds + 9 * hour });
});

test("a function receives the records of a table's stream", async (t) => {
  const world = await withCarts(t);
  const goodbye = await world.function("goodbye", ({ Records }) => ({ seen: Records.length }));
  await goodbye.consume("carts", {
    FilterCriteria: { Filters: [{ Pattern: JSON.stringify({ eventName: ["REMOVE"] }) }] },
  });
  await put(world, { id: "1", ttl: startSeconds + hour });
  const { settled, unfinished } = await world.clock.advance("2h", { settle: true });
  assert.deepEqual({ settled, unfinished }, { settled: true, unfinished: [] });
  const [{ event, result }] = goodbye.invocations;
  assert.equal(event.Records[0].dynamodb.Keys.id.S, "1");
  assert.deepEqual(result, { seen: 1 });
});

test("consume() rejects a table without a stream", async (t) => {
  const world = await open(t);
  await world.createTable("plain", { stream: false });
  const consumer = await world.function("consumer", () => {});
  await assert.rejects(consumer.consume("plain"), /^TypeError: The table plain has no stream to consume/);
});

test("a function can run at a URL", async (t) => {
  const world = await open(t);
  await world.function("elsewhere", "http://127.0.0.1:9/", { timeoutSeconds: 3 });
  const { functions } = await world.control("GET", "/functions");
  assert.deepEqual(functions, [{ name: "elsewhere", url: "http://127.0.0.1:9/", timeout_seconds: 3 }]);
});

test("follow is called with the clock's time after each move", async (t) => {
  const told = [];
  const world = await withCarts(t, { follow: (now) => told.push(now.toISOString()) });
  const snapshot = await world.snapshot();
  await world.clock.advance("1h");
  await snapshot.restore();
  assert.deepEqual(told, ["2031-01-01T00:00:00.000Z", "2031-01-01T01:00:00.000Z", "2031-01-01T00:00:00.000Z"]);
  await assert.rejects(world.clock.advance("2030-01-01T00:00:00Z"), { status: 409 });
  assert.deepEqual(told.slice(3), ["2030-01-01T00:00:00.000Z", "2031-01-01T00:00:00.000Z"], "moved ahead, then back after the error");
  await assert.rejects(world.clock.rate(60), /^TypeError: clock\.rate\(\) cannot be used in a world with follow/);
});

test("follow is called before functions receive the expired items", async (t) => {
  let now;
  const world = await withCarts(t, { follow: (date) => (now = date) });
  const consumer = await world.function("consumer", () => now.toISOString());
  await consumer.consume("carts");
  await put(world, { id: "1", ttl: startSeconds + hour });
  await put(world, { id: "2", ttl: startSeconds + 9 * hour });
  await world.clock.advance("2h", { settle: true });
  assert.equal(consumer.invocations.at(-1).result, "2031-01-01T02:00:00.000Z");
  await world.clock.advance("next-expiry", { settle: true });
  assert.equal(consumer.invocations.at(-1).result, "2031-01-01T09:00:00.001Z");
});

test("with the option environment, clients that other code creates use the world", async (t) => {
  const before = { ...process.env };
  const world = await withCarts(t, { environment: true });
  const { TableNames } = await new DynamoDBClient({}).send(new ListTablesCommand({}));
  assert.deepEqual(TableNames, ["carts"]);
  await world.close();
  assert.deepEqual({ ...process.env }, before);
});

test("a world's clients do not read the user's AWS configuration", async (t) => {
  const directory = project(t, {
    "list.mjs": `
      import fs from "node:fs/promises";
      import { syncBuiltinESMExports } from "node:module";
      const { readFile } = fs;
      const read = [];
      fs.readFile = (path, ...rest) => {
        if (!String(path).startsWith("file:")) read.push(String(path)); // Node reads modules by file: URLs
        return readFile(path, ...rest);
      };
      syncBuiltinESMExports();

      const { DynamoDBClient, ListTablesCommand } = await import("@aws-sdk/client-dynamodb");
      const { ListStreamsCommand } = await import("@aws-sdk/client-dynamodb-streams");
      const { Server } = await import("mayfly-dynamodb");
      const server = await Server.start();
      const world = await server.world();
      await world.dynamodb.send(new ListTablesCommand({}));
      await world.streams.send(new ListStreamsCommand({}));
      console.log("of the world's clients", read);
      // This client reads the configuration, which shows that the test detects such reads.
      await new DynamoDBClient({ endpoint: server.url }).send(new ListTablesCommand({})).catch(() => {});
      console.log("of another", read.some((path) => path.endsWith("config")));
      await server.close();
    `,
    config: "[default]\nregion = eu-west-1\n",
    credentials: "[default]\naws_access_key_id = theirs\naws_secret_access_key = secret\n",
  });
  const { output } = await node(directory, ["list.mjs"], {
    AWS_CONFIG_FILE: join(directory, "config"),
    AWS_SHARED_CREDENTIALS_FILE: join(directory, "credentials"),
    AWS_REGION: "eu-west-1",
    AWS_ENDPOINT_URL: "http://127.0.0.1:1",
    AWS_USE_FIPS_ENDPOINT: "true",
    AWS_MAX_ATTEMPTS: "many",
  });
  assert.equal(output, "of the world's clients []\nof another true\n");
});

test("a world's client for DynamoDB Streams lists the world's streams", async (t) => {
  const world = await withCarts(t);
  const { Streams } = await world.streams.send(new ListStreamsCommand({}));
  assert.deepEqual(Streams.map(({ TableName }) => TableName), ["carts"]);
});

test("closing a world deletes its tables and functions", async () => {
  const world = await server.world();
  await world.createTable("carts", { sort: { name: "n", type: "N" } });
  await world.function("here", () => {});
  await world.close();
  await world.close();
  assert.deepEqual(await world.control("GET", "/ttl"), { tables: {} });
  assert.deepEqual(await world.control("GET", "/functions"), { functions: [] });
});

test("a world can be closed after its server has ended", async () => {
  const other = await Server.start();
  const world = await other.world();
  await other.close();
  await world.close();
  await assert.rejects(world.control("GET", "/clock"), { type: "Unreachable", status: 0 });
});

test("a world can be opened with tables", async (t) => {
  const tables = [
    {
      TableName: "files",
      KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
      AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
      ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 },
    },
  ];
  const world = await open(t, { tables });
  assert.deepEqual((await world.documents.send(new ScanCommand({ TableName: "files" }))).Items, []);
});

test("require and import return the same classes", async () => {
  const { createRequire } = await import("node:module");
  assert.equal(createRequire(import.meta.url)("mayfly-dynamodb").Server, Server);
});
