// Tests the console in Chromium: streams, triggers, functions, backups, points in time, jobs, and the result of an advance.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import {
  DeleteItemCommand,
  DescribeContinuousBackupsCommand,
  ListBackupsCommand,
  UpdateContinuousBackupsCommand,
} from "@aws-sdk/client-dynamodb";

import { N, S, card, check_accessible, eventually, fixture, go, press, start } from "./running.js";

const bucket = mkdtempSync(join(tmpdir(), "mayfly-bucket-"));
after(() => rmSync(bucket, { recursive: true, force: true }));

let server, browser;
const own = fixture(
  ["--bucket", "files=" + bucket, "--exact-recovery", "--destination-dir", bucket],
  () => ({ server, browser } = own),
);
const { create_table, get, put, put_many, send } = own;

// --- streams

const keys_shown = (page) => page.locator(".change summary .key").allTextContents();

test("a stream is read in order from its oldest record, across shard splits", async () => {
  await create_table("carts");
  await put_many("carts", 60, (at) => ({ id: S("c" + String(at).padStart(3, "0")) }));
  await server.control("POST", "/streams/carts/split", {});
  await put_many("carts", 60, (at) => ({ id: S("c" + String(60 + at).padStart(3, "0")), ttl: N(start + 60) }));
  await server.control("POST", "/streams/carts/roll", {});
  await server.control("POST", "/clock/advance", { seconds: 120 });
  const page = await browser.open(server, "streams");
  const changes = card(page, "Changes");
  await changes.getByText("From the oldest", { exact: true }).click();
  await changes.getByText("Choose a table above").waitFor();
  await changes.getByLabel("Table", { exact: true }).selectOption("carts");
  await changes.getByText("50 records read, oldest first.").waitFor();
  await press(changes, "Read more");
  await press(changes, "Read more");
  await changes.getByText("150 records read").waitFor();
  const written = Array.from({ length: 120 }, (_, at) => "id = c" + String(at).padStart(3, "0"));
  assert.deepEqual((await keys_shown(page)).slice(0, 120), written);
  await press(changes, "Read more");
  await changes.getByText("180 records read, oldest first. This is the end of the stream.").waitFor();
  // Later changes can also be read.
  await put("carts", { id: S("late") });
  await press(changes, "Read more");
  await changes.getByText("181 records read").waitFor();
  assert.equal((await keys_shown(page)).at(-1), "id = late");

  await changes.getByLabel("Made by").selectOption("service");
  await changes.getByText("181 records read, oldest first, 50 shown.").waitFor();
  await press(changes, "Read more");
  await changes.getByText("181 records read, oldest first, 60 shown. This is the end of the stream.").waitFor();
  assert.equal(await page.locator(".change.expired").count(), 60);
  assert.equal(await page.locator(".change:not(.expired)").count(), 0);
  await page.locator(".change.expired summary").first().click();
  await page.getByText("Its TTL passed, and the service deleted it").first().waitFor();
  // The browser's Back button restores the filters.
  await go(page, "time");
  await page.goBack();
  await page.locator(".change.expired").first().waitFor();
  assert.equal(await changes.getByLabel("Table", { exact: true }).inputValue(), "carts");
  await browser.close(page);
});

test("the page reports an empty stream and a table without a stream", async () => {
  await create_table("quiet");
  await create_table("without", { ttl: null, stream: false });
  const page = await browser.open(server, "streams");
  const changes = card(page, "Changes");
  await changes.getByText("From the oldest", { exact: true }).click();
  await changes.getByLabel("Table", { exact: true }).selectOption("quiet");
  await changes.getByText("The stream is empty").waitFor();
  await changes.getByLabel("Table", { exact: true }).selectOption("without");
  await changes.getByText("The table without has no stream.").waitFor();
  await card(page, "Shards").getByLabel("Shards of").selectOption("without");
  await card(page, "Shards").getByText("The table without has no stream.").waitFor();
  await changes.getByRole("link", { name: "Turn it on under Schema" }).click();
  await page.getByRole("heading", { name: "Stream", exact: true }).waitFor();
  await browser.close(page);
});

test("a search for records in a long stream can be stopped and continued", async () => {
  await create_table("carts");
  await put_many("carts", 2000, (at) => ({ id: S("c" + at) }));
  const page = await browser.open(server, "streams");
  const changes = card(page, "Changes");
  await changes.getByLabel("Table", { exact: true }).selectOption("carts");
  await changes.getByLabel("Kind of change").selectOption("REMOVE");
  await server.control("PUT", "/faults", { rules: [{ fault: "latency", operation: "GetRecords", milliseconds: 700 }] });
  await changes.getByText("From the oldest", { exact: true }).click();
  await changes.getByText(/^Reading: [\d,]+ records, 0 found\.$/).waitFor();
  await press(changes, "Stop");
  await changes.getByText(/^[\d,]+ records read, oldest first, 0 shown, stopped\.$/).waitFor();
  await server.control("DELETE", "/faults", {});
  await press(changes, "Read more");
  await changes.getByText("2,000 records read, oldest first, 0 shown. This is the end of the stream.").waitFor();
  await changes.getByText("No record matches the filter.").waitFor();
  await browser.close(page);
});

// --- triggers

async function start_function(t, answer) {
  const events = [];
  const handler = http.createServer((request, reply) => {
    let body = "";
    request.on("data", (piece) => (body += piece));
    request.on("end", () => {
      events.push(JSON.parse(body));
      reply.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(answer()));
    });
  });
  await new Promise((resolve) => handler.listen(0, "127.0.0.1", resolve));
  t.after(async () => {
    handler.closeAllConnections();
    handler.close();
    await fetch(server.url + "/_mayfly/functions/reminder", {
      method: "DELETE",
      headers: { "Content-Type": "application/json" },
      body: "{}",
    });
  });
  return { url: `http://127.0.0.1:${handler.address().port}/`, events };
}

test("a function can be registered, invoked with an event and removed", async (t) => {
  let answer = { ok: true };
  const { url, events } = await start_function(t, () => answer);
  const page = await browser.open(server, "triggers");
  const functions = card(page, "Functions"),
    dialog = page.getByRole("dialog");
  await functions.getByText("No functions yet.").waitFor();
  await card(page, "Triggers").getByText("No triggers yet.").waitFor();
  await check_accessible(page, "no triggers");
  await press(functions, "Register a function");
  await press(dialog, "Register");
  await dialog.getByText("Name is required").waitFor();
  await dialog.getByLabel("Name", { exact: true }).fill("reminder");
  await dialog.getByLabel("URL").fill("https://example.com");
  await press(dialog, "Register");
  await dialog.locator(".error").getByText("http").waitFor();
  await dialog.getByLabel("URL").fill(url);
  await dialog.getByLabel("Timeout in seconds").fill("5");
  await press(dialog, "Register");
  await functions.getByRole("cell", { name: url }).waitFor();
  await functions.getByRole("cell", { name: "5 s" }).waitFor();

  await press(functions, "Invoke reminder");
  await press(dialog, "Invoke");
  await dialog.getByText("succeeded").waitFor();
  assert.equal(events[0].Records[0].userIdentity.principalId, "dynamodb.amazonaws.com");
  await check_accessible(page, "Invoke");
  await dialog.getByLabel("Event").fill('{"mine": 1}');
  answer = { errorType: "AssertionError", errorMessage: "assert 1 == 2" };
  await press(dialog, "Invoke");
  await dialog.getByText("failed: Unhandled").waitFor();
  await dialog.getByText('"errorMessage": "assert 1 == 2"').waitFor();
  assert.deepEqual(events[1], { mine: 1 });
  await dialog.getByLabel("Event").fill("{");
  await press(dialog, "Invoke");
  await dialog.locator(".error").getByText("JSON").waitFor();
  await page.keyboard.press("Escape");

  await press(functions, "Remove the function reminder");
  await press(dialog, "Remove the function");
  await functions.getByText("No functions yet.").waitFor();
  await browser.close(page);
});

test("a trigger can be created, inspected, disabled, enabled and deleted", async (t) => {
  let fails = false;
  const { url, events } = await start_function(t, () =>
    fails ? { errorType: "AssertionError", errorMessage: "assert 1 == 2" } : {},
  );
  await server.control("PUT", "/functions/reminder", { url });
  await create_table("carts");
  await create_table("without", { ttl: null, stream: false });
  const page = await browser.open(server, "triggers");
  const triggers = card(page, "Triggers"),
    dialog = page.getByRole("dialog");
  await press(triggers, "New trigger");
  assert.equal(await dialog.getByLabel("Function", { exact: true }).inputValue(), "reminder");
  await dialog.getByLabel(/^Table/).selectOption("without");
  await press(dialog, "Create");
  await dialog.getByText("The table without has no stream. Turn it on under Schema.").waitFor();
  await dialog.getByLabel(/^Table/).selectOption("carts");
  await dialog.getByLabel("Batch size").fill("20000");
  await press(dialog, "Create");
  await dialog.getByText("ValidationException").waitFor();
  await dialog.getByLabel("Batch size").fill("10");
  await dialog.getByLabel("Retries").fill("1");
  await dialog.getByLabel("Only items that TTL deleted").check();
  await dialog.getByLabel("Split a failing batch in two").check();
  await dialog.getByLabel("Destination for batches that are given up").fill(join(bucket, "failed.jsonl"));
  await check_accessible(page, "New trigger");
  await press(dialog, "Create");
  await triggers.getByText("Enabled", { exact: true }).waitFor();

  await put("carts", { id: S("1"), ttl: N(start + 60) });
  await put("carts", { id: S("2") });
  await server.control("POST", "/clock/advance", { seconds: 120, settle: "triggers" });
  assert.deepEqual(
    events.flatMap(({ Records }) => Records.map((record) => [record.eventName, record.dynamodb.Keys.id.S])),
    [["REMOVE", "1"]],
  );
  fails = true;
  await put("carts", { id: S("3"), ttl: N(start + 180) });
  await server.control("POST", "/clock/advance", { seconds: 120, settle: "triggers" });
  const cells = () => triggers.locator("tbody td").allTextContents();
  await eventually(async () => (await cells())[8] === "1"); // the server gave up on the batch

  await triggers.getByRole("button", { name: "reminder", exact: true }).click();
  await dialog.getByText("Last failure").waitFor();
  const shown = JSON.parse(await dialog.locator("pre").textContent());
  assert.equal(shown.BatchSize, 10);
  assert.equal(shown.MaximumRetryAttempts, 1);
  assert.equal(shown.BisectBatchOnFunctionError, true);
  assert.match(shown.DestinationConfig.OnFailure.Destination, /failed\.jsonl$/);
  await check_accessible(page, "a trigger");
  await page.keyboard.press("Escape");

  await press(triggers, "Disable the trigger of reminder on carts");
  await triggers.getByText("Disabled", { exact: true }).waitFor();
  await press(triggers, "Enable the trigger of reminder on carts");
  await triggers.getByText("Enabled", { exact: true }).waitFor();
  await press(triggers, "Delete the trigger of reminder on carts");
  await press(dialog, "Delete the trigger");
  await triggers.getByText("No triggers yet.").waitFor();
  assert.deepEqual((await server.control("GET", "/triggers")).triggers, []);
  await browser.close(page);
});

/** Answers a request from the page with `json` instead of the server's response. */
const answer_with = (page, path, json) =>
  page.route(
    (url) => url.pathname === "/_mayfly" + path,
    (route) => route.fulfill({ json }),
  );

test("a failure shows its error type and message, and a batch that is being retried shows its attempts", async () => {
  const page = await browser.open(server, "tables");
  const error = { status: 200, error: "Unhandled", type: "AssertionError", message: "assert 1 == <b>2</b>" };
  await answer_with(page, "/triggers", {
    triggers: [
      {
        ...{ uuid: "1", function: "reminder", table: "carts", stream: "arn:1", state: "Enabled" },
        ...{
          last_result: "PROBLEM: Function call failed",
          batches: 0,
          records: 0,
          failures: 4,
          retries: 3,
          given_up: 0,
        },
        last_failure: { ...error, at: "2031-01-01T00:00:00Z" },
        retrying: { attempts: 4, records: 2, error },
      },
    ],
  });
  await go(page, "triggers");
  const triggers = card(page, "Triggers");
  await triggers.getByText("200 Unhandled AssertionError: assert 1 == <b>2</b>").waitFor();
  await triggers.getByText("retrying, 4 attempts failed").waitFor();
  assert.equal(await page.locator("main b").filter({ hasText: /^2$/ }).count(), 0);
  await browser.close(page);
});

test("an advance reports failed functions and items that never expire or were written with a past TTL", async () => {
  await create_table("carts");
  const page = await browser.open(server, "time");
  const error = { status: 200, error: "Unhandled", type: "AssertionError", message: "assert 1 == 2" };
  await answer_with(page, "/clock/advance", {
    now: "2031-01-01T01:00:00Z",
    expired: 1,
    tables: { carts: 1 },
    never: { carts: { milliseconds: 3, string: 1 } },
    born_expired: { carts: 2 },
    settled: false,
    unfinished: [
      {
        ...{ UUID: "1", function: "mailer", table: "carts", LastProcessingResult: "PROBLEM: Function call failed" },
        retrying: { attempts: 4, records: 2, error },
      },
    ],
    given_up: [
      {
        ...{ UUID: "2", function: "reminder", table: "carts", condition: "RetryAttemptsExhausted", attempts: 1, error },
        records: [{ sequence_number: "1", event: "REMOVE", key: { id: S("7") } }],
        left_out: 3,
        destination: "file:///failed.jsonl",
      },
    ],
  });
  await page.getByLabel("Wait for triggered functions").check();
  await press(page, "+ 1 h");
  const clock = page.getByRole("region", { name: "Clock" });
  await clock.getByText("Expired: 1 (carts 1).").waitFor();
  await clock.getByText("Items that never expire: carts (3 × milliseconds, 1 × string).").waitFor();
  await clock.getByText("Written with a TTL in the past: carts 2.").waitFor();
  assert.deepEqual(await clock.locator("li").allTextContents(), [
    "reminder on carts: RetryAttemptsExhausted after 1 attempt, 200 Unhandled AssertionError: assert 1 == 2. " +
      "id = 7 and 3 more. Sent to file:///failed.jsonl",
    "mailer on carts: PROBLEM: Function call failed. Retrying 2 records; 4 attempts failed, the last with " +
      "200 Unhandled AssertionError: assert 1 == 2",
  ]);
  await check_accessible(page, "an advance that found failures");
  await browser.close(page);
});

// --- backups and jobs

const scan = async (name) => (await get(name, { id: S("1") }))?.state?.S;

test("a backup can be created, restored into a new table and deleted", async () => {
  await create_table("carts");
  await put("carts", { id: S("1"), state: S("kept") });
  const page = await browser.open(server, "backups");
  const backups = card(page, "Backups"),
    dialog = page.getByRole("dialog");
  await backups.getByText("No backups yet.").waitFor();
  await backups.getByLabel("Backup name").fill("nightly");
  await press(backups, "Back up");
  await backups.getByRole("cell", { name: "nightly", exact: true }).waitFor();
  await send(new DeleteItemCommand({ TableName: "carts", Key: { id: S("1") } }));
  await press(backups, "Restore the backup nightly");
  await dialog.getByLabel("New table").fill("no");
  await press(dialog, "Restore");
  await dialog.getByText("ValidationException").waitFor();
  await dialog.getByLabel("New table").fill("carts-again");
  await check_accessible(page, "Restore");
  await press(dialog, "Restore");
  await page.getByRole("heading", { name: "carts-again" }).waitFor();
  assert.equal(await scan("carts-again"), "kept");
  await page.goBack();
  await press(backups, "Delete the backup nightly");
  await press(dialog, "Delete the backup");
  await backups.getByText("No backups yet.").waitFor();
  assert.deepEqual((await send(new ListBackupsCommand({}))).BackupSummaries, []);
  await browser.close(page);
});

test("point-in-time recovery can be turned on, and a table can be restored to any second", async () => {
  await create_table("carts");
  const page = await browser.open(server, "backups");
  const points = card(page, "Points in time"),
    dialog = page.getByRole("dialog");
  await press(points, "Turn on recovery of carts");
  await points.getByRole("button", { name: "Turn off recovery of carts" }).waitFor();
  const status = async () =>
    (await send(new DescribeContinuousBackupsCommand({ TableName: "carts" }))).ContinuousBackupsDescription
      .PointInTimeRecoveryDescription.PointInTimeRecoveryStatus;
  assert.equal(await status(), "ENABLED");
  await put("carts", { id: S("1"), state: S("before") });
  await server.control("POST", "/clock/advance", { seconds: 3600 });
  await put("carts", { id: S("1"), state: S("after") });
  await go(page, "time");
  await go(page, "backups");
  await press(points, "Restore carts to a time");
  await dialog.getByText("at a second between 2031-01-01 00:00:00 and 2031-01-01 01:00:00").waitFor();
  await dialog.getByLabel("Time (UTC)").fill("2031-01-01T00:30:00");
  await dialog.getByLabel("New table").fill("carts-then");
  await press(dialog, "Restore");
  await page.getByRole("heading", { name: "carts-then" }).waitFor();
  assert.equal(await scan("carts-then"), "before");
  await page.goBack();
  await press(points, "Restore carts to a time");
  await dialog.getByLabel("Use the latest possible time").check();
  await dialog.getByLabel("New table").fill("carts-now");
  await press(dialog, "Restore");
  await page.getByRole("heading", { name: "carts-now" }).waitFor();
  assert.equal(await scan("carts-now"), "after");
  await page.goBack();
  await press(points, "Turn off recovery of carts");
  await points.getByRole("button", { name: "Turn on recovery of carts", exact: true }).waitFor();
  assert.equal(await status(), "DISABLED");
  await browser.close(page);
});

test("a table can be exported and imported, and jobs show their outcome", async () => {
  await create_table("carts");
  await put("carts", { id: S("1"), state: S("kept") });
  await send(
    new UpdateContinuousBackupsCommand({
      TableName: "carts",
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    }),
  );
  const page = await browser.open(server, "backups");
  const jobs = card(page, "Jobs"),
    dialog = page.getByRole("dialog");
  await jobs.getByText("No jobs yet.").waitFor();
  await press(card(page, "Points in time"), "Export carts");
  await dialog.getByLabel("Bucket").fill("files");
  await dialog.getByLabel("Key prefix").fill("weekly");
  await check_accessible(page, "Export a table");
  await press(dialog, "Export");
  await jobs.getByText("COMPLETED").waitFor();
  assert.ok(readdirSync(join(bucket, "weekly", "AWSDynamoDB")).length > 0);
  await press(jobs, "Export a table");
  await dialog.getByLabel("Bucket").fill("nowhere");
  await press(dialog, "Export");
  await jobs.getByText("FAILED", { exact: true }).waitFor();
  await jobs.getByText("S3NoSuchBucket").waitFor();

  writeFileSync(join(bucket, "people.csv"), "id,n\n1,2\n,4\n");
  await press(jobs, "Import a table");
  await dialog.getByLabel("Bucket").fill("files");
  await dialog.getByLabel("Key prefix").fill("people");
  await dialog.getByLabel(/^Format/).selectOption("CSV");
  await dialog.getByLabel("New table").fill("people");
  await check_accessible(page, "Import a table");
  await press(dialog, "Import");
  const row = jobs.getByRole("row").filter({ hasText: "people" });
  // One item has no key.
  await row.getByText("FAILED", { exact: true }).waitFor();
  await row.getByText("ItemValidationError").waitFor();
  await row.getByText("ErrorCount 1, ImportedItemCount 1").waitFor();
  assert.deepEqual(await get("people", { id: S("1") }), { id: S("1"), n: S("2") });
  await row.getByRole("button", { name: /^Log of/ }).click();
  assert.match(await dialog.locator("pre").textContent(), /id/);
  await check_accessible(page, "a log");
  await browser.close(page);
});

// --- empty states

for (const theme of ["light", "dark"]) {
  test(`an empty account's panes say how to start and axe finds no serious problem (${theme})`, async () => {
    const page = await browser.open(server, "tables", { theme });
    for (const [path, words] of [
      ["tables", "No tables yet"],
      ["time", "No table has TTL."],
      ["streams", "Nothing has changed since you opened this pane."],
      ["triggers", "Register a function below"],
      ["backups", "No backups yet."],
      ["worlds", "No snapshots yet."],
    ]) {
      await go(page, path);
      await page.getByText(words).first().waitFor();
      assert.equal(await page.getByRole("heading", { level: 1 }).count(), 1, path);
      await check_accessible(page, path);
    }
    await browser.close(page);
  });
}

test("the keys 1 to 6 choose the panes", async () => {
  const page = await browser.open(server, "tables");
  for (const [key, heading] of [
    ["2", "Time"],
    ["3", "Streams"],
    ["4", "Triggers"],
    ["5", "Backups and jobs"],
    ["6", "Accounts, snapshots, faults and metrics"],
    ["1", "No tables yet"],
  ]) {
    await page.keyboard.press(key);
    await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
  }
  await browser.close(page);
});

test("pages send requests only to their own server", () => own.check_hosts());
