// Tests of functions that fail: their errors are printed and thrown once, unless the test declares that it expects them.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { HandlerError, Server } from "mayfly-dynamodb";

let server;
before(async () => (server = await Server.start()));
after(() => server.close());

async function withCarts(t, handler, { mapping = {}, ...options } = {}) {
  const world = await server.world({ frozen: "2031-01-01T00:00:00Z" });
  t.after(() => world.close().catch(() => {}));
  await world.createTable("carts", { ttl: "ttl" });
  const reminder = await world.function("reminder", handler, options);
  await reminder.consume("carts", mapping);
  return { world, reminder };
}

const put = (world, ...ids) =>
  Promise.all(ids.map((id) => world.documents.send(new PutCommand({ TableName: "carts", Item: { id } }))));

// Returns a function that returns the arguments of Mayfly's calls to console.error so far. It omits the SDK's warnings.
function printed(t) {
  const { mock } = t.mock.method(console, "error", () => {});
  return () => mock.calls.map((call) => call.arguments).filter(([text]) => text.startsWith("Mayfly"));
}

async function handlerError(promise) {
  const error = await promise.then(
    () => assert.fail("nothing was thrown"),
    (error) => error,
  );
  assert.ok(error instanceof HandlerError, error.stack);
  assert.equal(error.name, "HandlerError");
  return error;
}

const fails = () => {
  throw new RangeError("no\n   cart");
};
const once = { mapping: { MaximumRetryAttempts: 0 } };
const declare = "If the test expects this, register the function with { mayFail: true }.";

test("settle throws a handler's error with the records that were given up", async (t) => {
  const lines = printed(t);
  const { world, reminder } = await withCarts(t, fails, once);
  await put(world, "1");
  const error = await handlerError(world.settle());
  assert.equal(
    error.message,
    "Function reminder failed on table carts: Mayfly gave up 1 record after 1 attempt (RetryAttemptsExhausted). Its last " +
      `error was RangeError: no cart. ${declare}`,
  );
  assert.equal(error.cause, reminder.invocations[0].error);
  assert.deepEqual(
    error.failures.map(({ function: name, event }) => [name, event.Records[0].dynamodb.Keys]),
    [["reminder", { id: { S: "1" } }]],
  );
  const { settled, unfinished, givenUp } = error.settled;
  assert.deepEqual([settled, unfinished], [false, []]);
  const [{ sequenceNumber, ...record }] = givenUp[0].records;
  assert.match(sequenceNumber, /^\d+$/);
  assert.deepEqual(record, { event: "INSERT", key: { id: { S: "1" } } });
  assert.equal(givenUp[0].leftOut, 0);
  // The failure was printed when it happened, with its stack trace.
  assert.deepEqual(lines(), [['Mayfly: the function "reminder" failed:', error.cause]]);

  assert.equal((await world.settle()).settled, true, "the failure is thrown only once");
  await world.close();
});

test("an advance with settle moves the clock before it throws a handler's error", async (t) => {
  printed(t);
  const { world } = await withCarts(t, fails, once);
  await put(world, "1");
  const error = await handlerError(world.clock.advance("1h", { settle: true }));
  assert.equal(error.settled.now.toISOString(), "2031-01-01T01:00:00.000Z");
});

test("settle throws before its time limit if a function keeps failing", { timeout: 300_000 }, async (t) => {
  const lines = printed(t);
  const { world } = await withCarts(t, async () => fails());
  await put(world, "1");
  // A settle that waited until its time limit would exceed the test's own time limit.
  const error = await handlerError(world.settle({ settleSeconds: 600 }));
  assert.match(
    error.message,
    /^Function reminder keeps failing on table carts: \d+ attempts for 1 record so far\. Its last error was RangeError: no cart\. /,
  );
  const [{ retrying, function: name, table }] = error.settled.unfinished;
  assert.deepEqual([name, table, retrying.records], ["reminder", "carts", 1]);
  assert.deepEqual(retrying.error, { status: 200, error: "Unhandled", type: "RangeError", message: "no\n   cart" });
  assert.equal(lines().length, 1, "retries of the same records with the same error are not printed again");
  await world.close(); // does not throw the failures again
});

test("settle throws a handler's failure even if a retry succeeds", async (t) => {
  printed(t);
  let calls = 0;
  const { world, reminder } = await withCarts(t, () => ++calls < 3 && fails());
  await put(world, "1");
  const error = await handlerError(world.settle());
  assert.equal(error.message, `Function reminder failed 2 times. Its last error was RangeError: no cart. ${declare}`);
  assert.equal(error.settled.settled, true);
  assert.equal(reminder.invocations.length, 3);
});

test("failures of a function with mayFail are neither printed nor thrown, but can be read", async (t) => {
  const lines = printed(t);
  const { world } = await withCarts(t, fails, { ...once, mayFail: true });
  await put(world, "1");
  const { settled, givenUp } = await world.settle();
  assert.equal(settled, false);
  assert.equal(givenUp[0].condition, "RetryAttemptsExhausted");
  assert.deepEqual(
    world.handlerFailures().map(({ function: name, error }) => [name, error.message]),
    [["reminder", "no\n   cart"]],
  );
  await world.close();
  assert.equal(lines().length, 0);
});

test("close frees everything and then throws failures that no settle has thrown", async (t) => {
  printed(t);
  const { world, reminder } = await withCarts(t, fails);
  await put(world, "1");
  while (reminder.invocations.length === 0) await new Promise((resume) => setImmediate(resume));
  const error = await handlerError(world.close());
  assert.match(error.message, /^Function reminder failed \d+ times?\. Its last error was RangeError: no cart\. /);
  assert.equal(error.settled, undefined);
  assert.deepEqual(await world.control("GET", "/functions"), { functions: [] });
  await world.close();
});

test("settle throws if a trigger's function is not registered", async (t) => {
  const { world, reminder } = await withCarts(t, () => {});
  await reminder.consume("carts", { FunctionName: "remindr" });
  assert.equal((await world.settle()).settled, true); // there are no records yet
  await put(world, "1");
  const error = await handlerError(world.settle());
  assert.equal(
    error.message,
    "Function remindr is not registered, but a trigger of table carts has records for it. " +
      "Register the function, or correct the trigger's function name.",
  );
  await world.function("remindr", () => {});
  assert.equal((await world.settle()).settled, true);
});

test("close delivers the remaining records", async (t) => {
  printed(t);
  const mapping = { MaximumBatchingWindowInSeconds: 300, MaximumRetryAttempts: 0 };
  const { world } = await withCarts(t, fails, { mapping });
  await put(world, "1");
  assert.match((await handlerError(world.close())).message, /^Function reminder failed 1 time\. /);
});

test("close waits for a running handler", async (t) => {
  printed(t);
  let goOn;
  const { world } = await withCarts(t, async () => {
    await new Promise((resolve) => (goOn = resolve));
    fails();
  });
  await put(world, "1");
  while (!goOn) await new Promise((resume) => setImmediate(resume));
  const closing = handlerError(world.close());
  setImmediate(goOn);
  assert.match((await closing).message, /^Function reminder failed 1 time\. /);
});

test("settle throws if a function at a URL fails, unless it is registered with mayFail", async (t) => {
  const elsewhere = createServer((request, response) => {
    request.resume();
    response.writeHead(500).end("{}");
  }).listen(0, "127.0.0.1");
  t.after(() => elsewhere.close());
  await new Promise((listening) => elsewhere.once("listening", listening));
  const url = `http://127.0.0.1:${elsewhere.address().port}/`;
  for (const mayFail of [false, true]) {
    const world = await server.world();
    const { LatestStreamArn } = await world.createTable("orders");
    await world.function("reminder", url, { mayFail });
    const consume = { FunctionName: "reminder", EventSourceArn: LatestStreamArn, StartingPosition: "TRIM_HORIZON" };
    await createMapping(world, { ...consume, MaximumRetryAttempts: 0 });
    await world.documents.send(new PutCommand({ TableName: "orders", Item: { id: "1" } }));
    if (mayFail) {
      assert.equal((await world.settle()).settled, false);
    } else {
      const { message, cause, failures } = await handlerError(world.settle());
      assert.match(message, /^Function reminder failed on table orders: Mayfly gave up 1 record after 1 attempt \(RetryAttemptsExhausted\)\. /);
      assert.match(message, /Its last error was .*\(HTTP status 500\)\. /);
      assert.deepEqual([cause, failures], [undefined, []]);
    }
    await world.close();
  }
});

// Sends Lambda's CreateEventSourceMapping. The access key id in the signature selects the account.
async function createMapping(world, body) {
  const scope = `${world.account}/20310101/${world.region}/lambda/aws4_request`;
  const response = await fetch(`${world.url}/2015-03-31/event-source-mappings/`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "X-Amz-Date": "20310101T000000Z",
      Authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=0`,
    },
    body: JSON.stringify(body),
  });
  assert.ok(response.ok, await response.text());
}

test("settle's error shortens long messages and long lists of functions", async (t) => {
  printed(t);
  const { world } = await withCarts(t, () => {
    throw new Error("x".repeat(5000));
  }, once);
  for (let n = 1; n <= 7; ++n) {
    const more = await world.function(`more${n}`, fails);
    await more.consume("carts", once.mapping);
  }
  await put(world, "1");
  const { message } = await handlerError(world.settle());
  assert.ok(message.length < 2000, message);
  assert.match(message, /3 more failures not listed\. If the test expects this, register these functions with \{ mayFail: true \}\.$/);
});
