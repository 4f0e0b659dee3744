// Tests typical uses of DynamoDB with the AWS SDK for JavaScript v3.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import {
  ConditionalCheckFailedException,
  CreateTableCommand,
  DynamoDBClient,
  TransactionCanceledException,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from "@aws-sdk/client-dynamodb-streams";
import {
  BatchExecuteStatementCommand,
  BatchWriteCommand,
  DynamoDBDocumentClient,
  ExecuteStatementCommand,
  ExecuteTransactionCommand,
  GetCommand,
  paginateQuery,
  PutCommand,
  ScanCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";

let directory, server, url, documents, dynamodb, streams;

before(async () => {
  directory = mkdtempSync(join(tmpdir(), "mayfly-test-"));
  // The program is $MAYFLY_SERVER, or the binary that script/build creates.
  const built = new URL("../../../build/release/mayfly", import.meta.url);
  const executable = process.env.MAYFLY_SERVER ?? fileURLToPath(built);
  const portFile = join(directory, "port");
  const command = ["serve", "--log-level", "warning", "--port", "0", "--port-file", portFile];
  server = spawn(executable, command, { stdio: ["ignore", "ignore", "inherit"] });
  await eventually(() => {
    assert.equal(server.exitCode, null, "mayfly exited before it served");
    return existsSync(portFile);
  });
  url = `http://127.0.0.1:${readFileSync(portFile, "utf8").trim()}`;
  const options = {
    endpoint: url,
    region: "us-east-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    maxAttempts: 1,
  };
  dynamodb = new DynamoDBClient(options);
  documents = DynamoDBDocumentClient.from(dynamodb);
  streams = new DynamoDBStreamsClient(options);
});

after(async () => {
  for (const client of [dynamodb, streams]) client?.destroy();
  if (server && server.exitCode === null) {
    const ended = new Promise((resolve) => server.once("exit", resolve));
    server.kill("SIGTERM");
    assert.equal(await ended, 0);
  }
  rmSync(directory, { recursive: true, force: true });
});

// Returns the result of `condition` as soon as it is true.
async function eventually(condition, secondsMax = 20) {
  const deadline = Date.now() + secondsMax * 1000;
  for (;;) {
    const result = await condition();
    if (result) return result;
    assert.ok(Date.now() < deadline, `still not after ${secondsMax} s`);
    await pause(10);
  }
}

// Advances the clock. Returns once all expired items are deleted.
async function advance(seconds) {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ seconds });
  const answer = await fetch(`${url}/_mayfly/clock/advance`, { method: "POST", headers, body });
  assert.equal(answer.status, 200);
  return answer.json();
}

async function createMusic(TableName) {
  await dynamodb.send(
    new CreateTableCommand({
      TableName,
      AttributeDefinitions: [
        { AttributeName: "artist", AttributeType: "S" },
        { AttributeName: "song", AttributeType: "S" },
        { AttributeName: "genre", AttributeType: "S" },
        { AttributeName: "year", AttributeType: "N" },
      ],
      KeySchema: [
        { AttributeName: "artist", KeyType: "HASH" },
        { AttributeName: "song", KeyType: "RANGE" },
      ],
      LocalSecondaryIndexes: [
        {
          IndexName: "by_year",
          KeySchema: [
            { AttributeName: "artist", KeyType: "HASH" },
            { AttributeName: "year", KeyType: "RANGE" },
          ],
          Projection: { ProjectionType: "ALL" },
        },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: "by_genre",
          KeySchema: [{ AttributeName: "genre", KeyType: "HASH" }],
          Projection: { ProjectionType: "KEYS_ONLY" },
        },
      ],
      BillingMode: "PAY_PER_REQUEST",
      StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" },
    }),
  );
  await waitUntilTableExists({ client: dynamodb, maxWaitTime: 10, minDelay: 1 }, { TableName });
  await dynamodb.send(
    new UpdateTimeToLiveCommand({
      TableName,
      TimeToLiveSpecification: { Enabled: true, AttributeName: "ttl" },
    }),
  );
}

// Reads a table's stream from its beginning.
async function readStream(TableName) {
  const { Streams } = await streams.send(new ListStreamsCommand({ TableName }));
  const { StreamArn } = Streams[0];
  const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn }));
  const { ShardId } = StreamDescription.Shards[0];
  const { ShardIterator } = await streams.send(
    new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" }),
  );
  return (await streams.send(new GetRecordsCommand({ ShardIterator }))).Records;
}

test("an item is read back unchanged, and a failed condition throws the SDK's exception", async () => {
  await createMusic("values");
  const Item = {
    artist: "Nina",
    song: "Feeling Good",
    year: 1965,
    live: false,
    label: null,
    tags: new Set(["jazz", "soul"]),
    credits: [{ name: "Newley" }, ["Bricusse", {}]],
  };
  await documents.send(new PutCommand({ TableName: "values", Item }));
  const Key = { artist: "Nina", song: "Feeling Good" };
  assert.deepEqual((await documents.send(new GetCommand({ TableName: "values", Key }))).Item, Item);
  await assert.rejects(
    documents.send(
      new UpdateCommand({
        TableName: "values",
        Key,
        UpdateExpression: "SET #y = :new",
        ConditionExpression: "#y = :old",
        ExpressionAttributeNames: { "#y": "year" },
        ExpressionAttributeValues: { ":new": 1966, ":old": 1964 },
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      }),
    ),
    (error) => error instanceof ConditionalCheckFailedException && error.Item !== undefined,
  );
});

test("an index is queried page by page", async () => {
  await createMusic("pages");
  const songs = Array.from({ length: 25 }, (_, number) => ({
    artist: "Nina",
    song: `song ${number}`,
    year: 2000 - number,
  }));
  await documents.send(
    new BatchWriteCommand({ RequestItems: { pages: songs.map((Item) => ({ PutRequest: { Item } })) } }),
  );
  const years = [];
  const pages = paginateQuery(
    { client: documents, pageSize: 4 },
    {
      TableName: "pages",
      IndexName: "by_year",
      KeyConditionExpression: "artist = :artist",
      ExpressionAttributeValues: { ":artist": "Nina" },
    },
  );
  for await (const page of pages) years.push(...page.Items.map((item) => item.year));
  assert.deepEqual(years, songs.map((song) => song.year).reverse());
});

test("PartiQL reads pages, batches and transactions", async () => {
  await createMusic("partiql");
  const insert = "INSERT INTO partiql VALUE {'artist':?, 'song':?, 'plays':?}";
  await documents.send(
    new ExecuteTransactionCommand({
      TransactStatements: [
        { Statement: insert, Parameters: ["Nina", "Sinnerman", 1] },
        { Statement: insert, Parameters: ["Miles", "So What", 2] },
        { Statement: insert, Parameters: ["Miles", "Blue in Green", 3] },
      ],
    }),
  );
  const plays = [];
  let NextToken;
  do {
    const page = await documents.send(
      new ExecuteStatementCommand({
        Statement: "SELECT plays FROM partiql WHERE artist IN [?, ?] ORDER BY artist DESC, song ASC",
        Parameters: ["Nina", "Miles"],
        Limit: 2,
        NextToken,
      }),
    );
    plays.push(...page.Items.map((item) => item.plays));
    NextToken = page.NextToken;
  } while (NextToken);
  assert.deepEqual(plays, [1, 3, 2]);

  const { Responses } = await documents.send(
    new BatchExecuteStatementCommand({
      Statements: [
        { Statement: insert, Parameters: ["Nina", "Sinnerman", 9] },
        { Statement: insert, Parameters: ["Nina", "Four Women", 4] },
      ],
    }),
  );
  assert.deepEqual(
    Responses.map((response) => response.Error?.Code),
    ["DuplicateItem", undefined],
  );

  await assert.rejects(
    documents.send(
      new ExecuteTransactionCommand({
        TransactStatements: [
          { Statement: "DELETE FROM partiql WHERE artist = 'Nina' AND song = 'Sinnerman'" },
          {
            Statement: "EXISTS(SELECT * FROM partiql WHERE artist = 'Miles' AND song = 'So What' AND plays > 5)",
            ReturnValuesOnConditionCheckFailure: "ALL_OLD",
          },
        ],
      }),
    ),
    (error) =>
      error instanceof TransactionCanceledException &&
      error.CancellationReasons[0].Code === "None" &&
      error.CancellationReasons[1].Code === "ConditionalCheckFailed" &&
      error.CancellationReasons[1].Item.plays.N === "2",
  );
});

test("an expiry removes the item and its index entries, and its record names the service", async () => {
  await createMusic("expiry");
  const ttl = Math.floor(Date.now() / 1000) + 3600;
  const goes = { artist: "Nina", song: "goes", year: 1, genre: "jazz", ttl };
  const stays = { artist: "Nina", song: "stays", year: 2, genre: "jazz", ttl: ttl + 24 * 3600 };
  for (const Item of [goes, stays]) await documents.send(new PutCommand({ TableName: "expiry", Item }));
  assert.deepEqual((await advance(2 * 3600)).tables, { expiry: 1 });
  const records = await readStream("expiry");
  assert.deepEqual(
    records.map((record) => [record.eventName, record.userIdentity?.PrincipalId]),
    [
      ["INSERT", undefined],
      ["INSERT", undefined],
      ["REMOVE", "dynamodb.amazonaws.com"],
    ],
  );
  assert.deepEqual(records[2].userIdentity, { Type: "Service", PrincipalId: "dynamodb.amazonaws.com" });
  assert.equal(records[2].dynamodb.OldImage.song.S, "goes");
  for (const IndexName of [undefined, "by_year", "by_genre"]) {
    const { Items } = await documents.send(new ScanCommand({ TableName: "expiry", IndexName }));
    assert.deepEqual(
      Items.map((item) => item.song),
      ["stays"],
    );
  }
});
