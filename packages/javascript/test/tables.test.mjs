// Tests which CreateTable request createTable sends, and which options it rejects before any request.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { DescribeTimeToLiveCommand, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { Server } from "mayfly-dynamodb";

let server;
before(async () => (server = await Server.start()));
after(() => server.close());

async function open(t) {
  const world = await server.world({ frozen: true });
  t.after(() => world.close());
  return world;
}

const pick = (from, ...names) => Object.fromEntries(names.map((name) => [name, from[name]]));

test("a table has the string key id and a stream by default", async (t) => {
  const world = await open(t);
  const table = await world.createTable("carts");
  assert.deepEqual(pick(table, "TableName", "KeySchema", "AttributeDefinitions", "StreamSpecification"), {
    TableName: "carts",
    KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
    AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
    StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" },
  });
  assert.equal(table.BillingModeSummary.BillingMode, "PAY_PER_REQUEST");
  assert.equal(table.GlobalSecondaryIndexes, undefined);
});

test("a table has the requested keys, TTL, stream and indexes", async (t) => {
  const world = await open(t);
  const at = { name: "at", type: "N" };
  const table = await world.createTable("orders", {
    key: "customer",
    sort: at,
    ttl: "expires",
    stream: "KEYS_ONLY",
    indexes: [
      { name: "by_state", key: "state", sort: at },
      { name: "by_item", key: "item", projection: "KEYS_ONLY" },
      { name: "by_total", local: true, sort: { name: "total", type: "N" }, projection: ["note", "state"] },
    ],
  });
  assert.deepEqual(table.KeySchema, [
    { AttributeName: "customer", KeyType: "HASH" },
    { AttributeName: "at", KeyType: "RANGE" },
  ]);
  assert.deepEqual(Object.fromEntries(table.AttributeDefinitions.map((each) => [each.AttributeName, each.AttributeType])), {
    customer: "S",
    at: "N",
    state: "S",
    item: "S",
    total: "N",
  });
  assert.equal(table.StreamSpecification.StreamViewType, "KEYS_ONLY");
  const indexes = [...table.GlobalSecondaryIndexes, ...table.LocalSecondaryIndexes].map((index) => [
    index.IndexName,
    index.KeySchema.map(({ AttributeName }) => AttributeName),
    index.Projection,
  ]);
  assert.deepEqual(indexes, [
    ["by_state", ["state", "at"], { ProjectionType: "ALL" }],
    ["by_item", ["item"], { ProjectionType: "KEYS_ONLY" }],
    ["by_total", ["customer", "total"], { ProjectionType: "INCLUDE", NonKeyAttributes: ["note", "state"] }],
  ]);
  const { TimeToLiveDescription } = await world.dynamodb.send(new DescribeTimeToLiveCommand({ TableName: "orders" }));
  assert.deepEqual(TimeToLiveDescription, { TimeToLiveStatus: "ENABLED", AttributeName: "expires" });
});

test("createTable with stream: false creates a table without a stream", async (t) => {
  const world = await open(t);
  assert.equal((await world.createTable("carts", { stream: false })).StreamSpecification, undefined);
});

test("the option more is merged into CreateTable's parameters", async (t) => {
  const world = await open(t);
  const { TableClassSummary, BillingModeSummary, ProvisionedThroughput } = await world.createTable("carts", {
    more: {
      ProvisionedThroughput: { ReadCapacityUnits: 2, WriteCapacityUnits: 3 },
      TableClass: "STANDARD_INFREQUENT_ACCESS",
    },
  });
  assert.equal(TableClassSummary.TableClass, "STANDARD_INFREQUENT_ACCESS");
  assert.equal(BillingModeSummary, undefined);
  assert.equal(ProvisionedThroughput.WriteCapacityUnits, 3);
  const indexed = await world.createTable("indexed", {
    more: {
      AttributeDefinitions: [{ AttributeName: "b", AttributeType: "B" }],
      GlobalSecondaryIndexes: [
        { IndexName: "raw", KeySchema: [{ AttributeName: "b", KeyType: "HASH" }], Projection: { ProjectionType: "ALL" } },
      ],
    },
    indexes: [{ name: "short", key: "a" }],
  });
  assert.deepEqual(indexed.GlobalSecondaryIndexes.map(({ IndexName }) => IndexName).sort(), ["raw", "short"]);
});

test("invalid options are rejected before any request", async (t) => {
  const world = await open(t);
  const refused = (options, message) => assert.rejects(world.createTable("carts", options), { name: "TypeError", message });
  await refused(
    { sort: { name: "at", type: "N" }, indexes: [{ name: "by_at", key: "at" }] },
    'createTable("carts"): the attribute "at" has type N in the table and S in the index by_at. Give it the same type in ' +
      'both, for example { name: "at", type: "N" }.',
  );
  await refused(
    { indexes: [{ name: "by_at" }] },
    'The global index "by_at" needs a partition key: set key, or local: true for a local index.',
  );
  await refused(
    { indexes: [{ name: "by_at", local: true, key: "at", sort: "at" }] },
    'The local index "by_at" has the table\'s partition key: remove key, or local: true.',
  );
  await refused({ indexes: [{ name: "by_at", local: true }] }, 'The local index "by_at" needs a sort key: set sort.');
  await refused(
    { sortKey: "at" },
    'createTable("carts") has no option "sortKey". Its options are key, sort, ttl, stream, indexes, more; pass other ' +
      "parameters of CreateTable in more.",
  );
  await refused(
    { key: { name: "id", type: "X" } },
    'createTable("carts"): the type of "id" in the table must be "S", "N" or "B", got "X".',
  );
  await refused(
    { indexes: [{ name: "by_at", key: { name: "at" } }] },
    'createTable("carts"): the type of "at" in the index by_at must be "S", "N" or "B", got undefined.',
  );
  for (const key of [["id", "N"], 5, null]) {
    await refused(
      { key },
      'createTable("carts"): a key attribute of the table must be a name or { name, type }, such as ' +
        `{ name: "year", type: "N" }, got ${JSON.stringify(key)}.`,
    );
  }
  await refused(
    { stream: "NEW" },
    'createTable("carts"): stream must be true, false or one of KEYS_ONLY, NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES, ' +
      'got "NEW".',
  );
  await refused({ ttl: 5 }, 'createTable("carts"): ttl must be the name of an attribute, got 5.');
  await refused({ ttl: "" }, 'createTable("carts"): ttl must be the name of an attribute, got "".');
  for (const [indexes, got] of [[["by_at"], '"by_at"'], [{ name: "by_at" }, '{"name":"by_at"}'], [[null], "null"]]) {
    await refused(
      { indexes },
      `createTable("carts"): indexes must be an array such as [{ name: "by_owner", key: "owner" }], got ${got}` +
        `${Array.isArray(indexes) ? " in it" : ""}.`,
    );
  }
  await refused(
    { indexes: [{ name: "by_at", key: "at", sortKey: "id" }] },
    'The index "by_at" has no option "sortKey". Its options are name, key, sort, projection, local.',
  );
  for (const projection of ["INCLUDE", []]) {
    await refused(
      { indexes: [{ name: "by_at", key: "at", projection }] },
      'The projection of the index "by_at" must be "ALL", "KEYS_ONLY" or a list of attribute names, got ' +
        `${JSON.stringify(projection)}.`,
    );
  }
  assert.deepEqual((await world.dynamodb.send(new ListTablesCommand({}))).TableNames, []);
});
