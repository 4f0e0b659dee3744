// Tests the console in Chromium: finding items, creating and changing tables, TTL values, errors, and browser history.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { CreateTableCommand, DescribeTableCommand, DescribeTimeToLiveCommand } from "@aws-sdk/client-dynamodb";

import { N, S, card, check_accessible, eventually, fixture, go, press, start } from "./running.js";

const run_file = promisify(execFile);
let server, browser;
const own = fixture([], () => ({ server, browser } = own));
const { create_table, get, put, put_many, send } = own;

const describe = async (TableName) => (await send(new DescribeTableCommand({ TableName }))).Table;
const ttl_of = async (TableName) =>
  (await send(new DescribeTimeToLiveCommand({ TableName }))).TimeToLiveDescription.TimeToLiveStatus;

/** Answers a GET request to the control API with the server's response, modified by `changes`. */
const patch = (page, path, changes) =>
  page.route(
    (url) => url.pathname === "/_mayfly" + path,
    async (route) => {
      const response = await fetch(route.request().url(), { headers: route.request().headers() });
      await route.fulfill({ json: changes(await response.json()) });
    },
  );

// --- finding

async function filter(page, attribute, value) {
  await press(page, "Add a filter");
  await page.getByLabel("Attribute to filter by").fill(attribute);
  await page.getByLabel("Value of the filter").fill(value);
}

test("a filtered scan continues until its page is full, and its pages contain each item once", async () => {
  await create_table("carts", { ttl: null, stream: false });
  await put_many("carts", 3000, (at) => ({ id: S("cart-" + at), status: S(at % 50 ? "open" : "rare") }));
  const page = await browser.open(server, "tables/carts");
  const found = page.getByRole("region", { name: "Results" });
  const ids = async () => (await found.locator("tbody td:first-child").allTextContents()).sort();
  await filter(page, "status", "rare");
  await press(page, "Run");
  await found.getByText(/^Page 1: 50 items, [\d,]+ scanned/).waitFor();
  const first = await ids();
  await press(found, "Next →");
  await found.getByText(/^Page 2: 10 items/).waitFor();
  const second = await ids();
  const wanted = Array.from({ length: 60 }, (_, at) => "cart-" + 50 * at).sort();
  assert.deepEqual([...first, ...second].sort(), wanted);
  await press(found, "← Back");
  await found.getByText(/^Page 1: 50 items/).waitFor();
  assert.deepEqual(await ids(), first);
  await browser.close(page);
});

test("a filtered query of an index also fills its pages, in order", async () => {
  await send(
    new CreateTableCommand({
      TableName: "carts",
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: ["id", "customer", "at"].map((AttributeName) => ({
        AttributeName,
        AttributeType: AttributeName === "at" ? "N" : "S",
      })),
      KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
      GlobalSecondaryIndexes: [
        {
          IndexName: "by-customer",
          KeySchema: [
            { AttributeName: "customer", KeyType: "HASH" },
            { AttributeName: "at", KeyType: "RANGE" },
          ],
          Projection: { ProjectionType: "ALL" },
        },
      ],
    }),
  );
  await put_many("carts", 900, (at) => ({
    id: S("cart-" + at),
    customer: S("ada"),
    at: N(at),
    status: S(at % 10 ? "open" : "rare"),
  }));
  const page = await browser.open(server, "tables/carts");
  const found = page.getByRole("region", { name: "Results" });
  await page.getByText("Query", { exact: true }).click();
  await page.getByLabel("Table or index").selectOption("by-customer");
  await page.getByLabel("Value of customer").fill("ada");
  await page.getByLabel("Order").selectOption("down");
  await page.getByLabel("Items per page").selectOption("25");
  await filter(page, "status", "rare");
  await press(page, "Run");
  const read = [];
  for (const [number, size] of [25, 25, 25, 15].entries()) {
    if (number) await press(found, "Next →");
    await found.getByText(new RegExp(`^Page ${number + 1}: ${size} items`)).waitFor();
    read.push(...(await found.locator("tbody td:first-child").allTextContents()));
  }
  assert.deepEqual(
    read,
    Array.from({ length: 90 }, (_, at) => "cart-" + (890 - 10 * at)),
  );
  await browser.close(page);
});

test("a long scan shows its progress and can be stopped and continued", async () => {
  await create_table("carts", { ttl: null, stream: false });
  await put_many("carts", 2500, (at) => ({ id: S("cart-" + at) }));
  const page = await browser.open(server, "tables/carts");
  const found = page.getByRole("region", { name: "Results" });
  await found.getByText(/^Page 1: 50 items/).waitFor();
  await server.control("PUT", "/faults", { rules: [{ fault: "latency", operation: "Scan", milliseconds: 1500 }] });
  await filter(page, "status", "rare");
  await press(page, "Run");
  await found.getByText(/^Scanned [\d,]+ of about 2,500 items, found 0 of 50\.$/).waitFor();
  await found.getByRole("progressbar", { name: "Scanned" }).waitFor();
  await press(found, "Stop");
  await found.getByText(/^Page 1: 0 items, [\d,]+ scanned, stopped/).waitFor();
  await found.getByText("Nothing found yet.").waitFor();
  await server.control("DELETE", "/faults", {});
  await press(found, "Continue");
  await found.getByText(/^Page 1: 0 items, 2,500 scanned/).waitFor();
  await found.getByText("No items found.").waitFor();
  await browser.close(page);
});

test("a filter finds its matches among a hundred thousand items within the time limit for a page", async () => {
  await create_table("carts", { ttl: null, stream: false });
  await put_many("carts", 100_000, (at) => ({ id: S("cart-" + at), status: S(at === 4321 ? "rare" : "open") }));
  const page = await browser.open(server, "tables/carts");
  const found = page.getByRole("region", { name: "Results" });
  await filter(page, "status", "rare");
  await press(page, "Run");
  await found.getByText(/^Page 1: 1 item, 100,000 scanned/).waitFor();
  await found.getByRole("button", { name: "cart-4321", exact: true }).waitFor();
  await browser.close(page);
});

// --- tables

test("a table can be created with keys, a TTL, a stream and indexes", async () => {
  const page = await browser.open(server, "tables");
  await press(page, "New table");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill("carts");
  await dialog.getByLabel("Sort key", { exact: true }).fill("at");
  await dialog.getByLabel("Sort key type").selectOption("N");
  await dialog.getByLabel("TTL attribute").fill("ttl");
  await dialog.getByLabel(/^Stream/).selectOption("KEYS_ONLY");
  await press(dialog, "Add an index");
  const index = (at) => dialog.getByRole("group", { name: "Index" }).nth(at);
  await index(0).getByLabel("Index name").fill("by-customer");
  await index(0).getByLabel("Partition key", { exact: true }).fill("customer");
  await index(0).getByLabel("Sort key", { exact: true }).fill("at");
  await index(0).getByLabel("Projection").selectOption("INCLUDE");
  await index(0).getByLabel("Included attributes").fill("status, total");
  await press(dialog, "Add an index");
  await index(1).getByLabel("Index name").fill("by-total");
  await index(1).getByLabel("Kind").selectOption("local");
  await index(1).getByLabel("Partition key", { exact: true }).fill("id");
  await index(1).getByLabel("Sort key", { exact: true }).fill("total");
  await index(1).getByLabel("Sort key type").selectOption("N");
  await press(dialog, "Add an index");
  await index(2).getByRole("button", { name: "Remove the index" }).click();
  await check_accessible(page, "New table");
  await press(dialog, "Create");
  await dialog.getByText("The key attribute at has the types N and S. Choose one.").waitFor();
  await index(0).getByLabel("Sort key type").selectOption("N");
  await press(dialog, "Create");
  await page.getByRole("heading", { name: "carts" }).waitFor();

  const table = await describe("carts");
  assert.deepEqual(table.KeySchema, [
    { AttributeName: "id", KeyType: "HASH" },
    { AttributeName: "at", KeyType: "RANGE" },
  ]);
  assert.deepEqual(
    table.GlobalSecondaryIndexes.map(({ IndexName, KeySchema, Projection }) => [
      IndexName,
      KeySchema.map((key) => key.AttributeName),
      Projection,
    ]),
    [["by-customer", ["customer", "at"], { ProjectionType: "INCLUDE", NonKeyAttributes: ["status", "total"] }]],
  );
  assert.deepEqual(
    table.LocalSecondaryIndexes.map(({ IndexName, KeySchema }) => [IndexName, KeySchema[1].AttributeName]),
    [["by-total", "total"]],
  );
  assert.equal(table.StreamSpecification.StreamViewType, "KEYS_ONLY");
  assert.equal(await ttl_of("carts"), "ENABLED");
  await browser.close(page);
});

test("the Schema tab can add and delete indexes and turn TTL and the stream on and off", async () => {
  await create_table("carts", { ttl: null, stream: false });
  await put("carts", { id: S("1"), customer: S("ada") });
  const page = await browser.open(server, "tables/carts/schema");
  const dialog = page.getByRole("dialog");
  const indexes = card(page, "Indexes"),
    ttl = card(page, "Time to live"),
    stream = card(page, "Stream");
  await press(indexes, "Add an index");
  await dialog.getByLabel("Index name").fill("by-customer");
  await dialog.getByLabel("Partition key", { exact: true }).fill("customer");
  await press(dialog, "Add");
  await indexes.getByRole("cell", { name: "by-customer", exact: true }).waitFor();
  assert.equal((await describe("carts")).GlobalSecondaryIndexes[0].ItemCount, 1);
  await press(indexes, "Delete the index by-customer");
  await press(dialog, "Delete the index");
  await indexes.getByText("No indexes.").waitFor();
  assert.equal((await describe("carts")).GlobalSecondaryIndexes, undefined);

  await ttl.getByLabel("TTL attribute").fill("gone_at");
  await press(ttl, "Turn TTL on");
  await ttl.getByText("Items expire by gone_at").waitFor();
  assert.equal(await ttl_of("carts"), "ENABLED");
  await stream.getByLabel("Records contain").selectOption("NEW_IMAGE");
  await press(stream, "Turn the stream on");
  await stream.getByText("NEW_IMAGE").waitFor();
  assert.equal((await describe("carts")).StreamSpecification.StreamViewType, "NEW_IMAGE");
  await press(stream, "Turn the stream off");
  await stream.getByText("Off: changes to this table").waitFor();
  assert.equal((await describe("carts")).StreamSpecification, undefined);
  await press(ttl, "Turn TTL off");
  await ttl.getByText("Off: items of this table do not expire.").waitFor();
  assert.equal(await ttl_of("carts"), "DISABLED");
  await browser.close(page);
});

test("for an account without tables, the page offers sample data and code to connect", async (t) => {
  const page = await browser.open(server, "tables");
  const directory = mkdtempSync(join(import.meta.dirname, "connect-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  await check_accessible(page, "an account without tables");
  for (const [language, run] of [
    ["Python", (code) => run_file(process.env.PYTHON3 ?? "/usr/bin/python3", ["-c", code])],
    [
      "JavaScript",
      (code) => (
        writeFileSync(join(directory, "call.mjs"), code),
        run_file(process.execPath, [join(directory, "call.mjs")])
      ),
    ],
    [
      "AWS CLI",
      (code) => run_file("sh", ["-c", code], { env: { PATH: "/usr/bin:/bin", HOME: directory, AWS_PAGER: "" } }),
    ],
  ]) {
    await page.getByText(language, { exact: true }).click();
    await press(page, "Copy");
    const { stdout } = await run(await page.evaluate(() => navigator.clipboard.readText()));
    assert.match(stdout, /\[\s*\]/, language);
  }
  for (const [language, words] of [
    ["Java", "DynamoDbClient.builder()"],
    ["Go", "dynamodb.New(dynamodb.Options{"],
    ["Rust", "aws_sdk_dynamodb::config"],
  ]) {
    await page.getByText(language, { exact: true }).click();
    const code = await page.getByLabel("Code to connect").textContent();
    assert.ok(code.includes(words) && code.includes(server.url), language);
  }
  await press(page, "Add sample data");
  await page.getByRole("heading", { name: "sample-carts" }).waitFor();
  await page.getByText(/^Page 1: 40 items/).waitFor();
  await page.getByText("TTL: ttl").waitFor();
  await page.getByText("never expires", { exact: true }).waitFor(); // one item has its TTL in milliseconds
  assert.equal((await server.control("GET", "/ttl/sample-carts")).pending, 39);
  await browser.close(page);
});

// --- TTL

test("a TTL can be entered as a date, a span or epoch seconds", async () => {
  await create_table("carts");
  const page = await browser.open(server, "tables/carts");
  const dialog = page.getByRole("dialog");
  const stored = async (id) => (await get("carts", { id: S(id) }))?.ttl;
  await press(page, "New item");
  await dialog.getByLabel("Value of id").fill("span");
  await dialog.getByLabel("Expires after").fill("1h30m");
  await dialog.getByText("Expires in 1.5 h, at 2031-01-01 01:30:00 UTC.").waitFor();
  assert.equal(await dialog.getByLabel("Expires at (UTC)").inputValue(), "2031-01-01T01:30");
  await check_accessible(page, "the TTL's fields");
  await press(dialog, "Put");
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual(await stored("span"), N(start + 5400));

  await press(page, "New item");
  await dialog.getByLabel("Value of id").fill("date");
  await dialog.getByLabel("Expires at (UTC)").fill("2031-02-01T00:00:00");
  await press(dialog, "Put");
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual(await stored("date"), N(Date.parse("2031-02-01T00:00:00Z") / 1000));

  await press(page, "New item");
  await dialog.getByLabel("Value of id").fill("epoch");
  await dialog.getByLabel("Value of ttl").fill(String(start + 60));
  await dialog.getByText("Expires in 1 min").waitFor();
  await press(dialog, "Put");
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual(await stored("epoch"), N(start + 60));

  // An attribute becomes the TTL as soon as its name is typed. The name field keeps the focus.
  await put("carts", { id: S("named"), number: N(start + 60) });
  await press(page, "Run");
  await page.getByRole("button", { name: "named", exact: true }).click();
  await dialog.getByLabel("Attribute's name").nth(1).fill("");
  await page.keyboard.type("ttl");
  await dialog.getByText("Expires in 1 min").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.value), "ttl");
  await press(dialog, "Update");
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual(await get("carts", { id: S("named") }), { id: S("named"), ttl: N(start + 60) });
  await browser.close(page);
});

test("while the user types, the form warns about a TTL that cannot fire and can correct the TTL", async () => {
  await create_table("carts");
  const page = await browser.open(server, "tables/carts");
  const dialog = page.getByRole("dialog");
  await press(page, "New item");
  await dialog.getByLabel("Value of id").fill("1");
  const ttl = dialog.getByLabel("Value of ttl");
  for (const [value, words] of [
    [String(start - 60), "This time has passed (1 min ago), so the item expires immediately."],
    [String(start - 6 * 365 * 86400), "is more than five years ago. DynamoDB ignores such a TTL"],
    ["-1", "is more than five years ago"],
    ["soon", "Not a number."],
    [String((start + 60) * 1e9), "This looks like nanoseconds, so the item never expires."],
    [String((start + 60) * 1000), "This looks like milliseconds, so the item never expires."],
  ]) {
    await ttl.fill(value);
    await dialog.getByText(words).waitFor();
  }
  await press(dialog, `Use ${start + 60}`);
  assert.equal(await ttl.inputValue(), String(start + 60));
  const type = dialog.getByLabel("Type", { exact: true }).nth(1);
  await type.selectOption("S");
  await dialog.getByText("A string never expires. TTL takes a Number (N) of epoch seconds.").waitFor();
  await press(dialog, `Use ${start + 60}`);
  assert.equal(await type.inputValue(), "N");
  // The JSON view also warns about a TTL in milliseconds.
  await dialog.getByText("JSON", { exact: true }).click();
  const text = dialog.getByRole("textbox"),
    fine = await text.inputValue();
  await text.fill(fine.replace(String(start + 60), String((start + 60) * 1000)));
  await dialog.getByText("This looks like milliseconds").waitFor();
  await text.fill(fine);
  await dialog.getByText("Form", { exact: true }).click();
  await dialog.getByText("Expires in 1 min").waitFor();
  await press(dialog, "Put");
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual(await get("carts", { id: S("1") }), { id: S("1"), ttl: N(start + 60) });
  await browser.close(page);
});

test("items whose TTL can never fire are marked in the list and in the item", async () => {
  await create_table("carts");
  await put("carts", { id: S("milliseconds"), ttl: N(start * 1000) });
  await put("carts", { id: S("string"), ttl: S(String(start + 60)) });
  await put("carts", { id: S("fine"), ttl: N(start + 60) });
  const page = await browser.open(server, "tables/carts");
  const found = page.getByRole("region", { name: "Results" });
  await found.getByText(/^Page 1: 3 items/).waitFor();
  assert.equal(await found.getByText("never expires").count(), 2);
  assert.equal(await found.getByRole("row").filter({ hasText: "fine" }).getByText("in 1 min").count(), 1);
  const dialog = page.getByRole("dialog");
  for (const [id, words] of [
    ["milliseconds", "It looks like milliseconds"],
    ["string", "so it never expires"],
  ]) {
    await page.getByRole("button", { name: id, exact: true }).click();
    await dialog.getByText(words).waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  }
  await browser.close(page);
});

test("a table's page and the Time pane list the items that the server reports as never expiring", async () => {
  const evil = `<img src=x onerror="owned=1">`;
  await create_table("carts");
  await put("carts", { id: S(evil), ttl: N(start * 1000) });
  const page = await browser.open(server, "tables");
  const suspects = {
    never: { milliseconds: 3 },
    suspects: [
      {
        key: { id: S(evil) },
        reason: "milliseconds",
        message: "Its TTL is in milliseconds.",
        at: "2031-01-01T00:00:00Z",
      },
    ],
  };
  await patch(page, "/ttl/carts", (answer) => ({ ...answer, ...suspects }));
  await patch(page, "/ttl", (answer) => ({ tables: { carts: { ...answer.tables.carts, ...suspects } } }));
  await go(page, "tables/carts");
  await page.getByText("Items that never expire: 3 × milliseconds.").click();
  await page.getByText("Its TTL is in milliseconds.").waitFor();
  await page.getByRole("region", { name: "Items with a suspect TTL" }).getByRole("button", { name: evil }).click();
  await page.getByRole("dialog").getByLabel("Value of ttl").waitFor();
  await page.goBack();
  await go(page, "time");
  const never = card(page, "Items that never expire");
  await never.getByText("3 items (carts: 3 × milliseconds).").waitFor();
  await never.getByRole("cell", { name: "id = " + evil }).waitFor();
  assert.equal(await page.evaluate(() => "owned" in globalThis), false);
  await browser.close(page);
});

// --- errors

test("an error that a fault rule injects names the rule", async () => {
  await create_table("carts", { ttl: null });
  await put("carts", { id: S("1"), note: S("old") });
  const page = await browser.open(server, "tables/carts");
  await server.control("PUT", "/faults", {
    rules: [
      { fault: "latency", milliseconds: 1 },
      { fault: "internal_server_error", operation: "Scan", table: "carts", count: 1 },
      { fault: "throttle", operation: "UpdateItem" },
    ],
  });
  await press(page, "Run");
  const found = page.getByRole("region", { name: "Results" });
  await found.getByText("InternalServerError").waitFor();
  await found.getByText("Injected by a fault rule: internal_server_error on Scan of carts, 1 of 1 requests").waitFor();
  await press(page, "Run");
  await page.getByRole("button", { name: "1", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Value of note").fill("new");
  await press(dialog, "Update");
  await dialog.getByText("Injected by a fault rule: throttle on UpdateItem, 1 of 1 requests").waitFor();
  await check_accessible(page, "an injected error");
  await dialog.getByRole("link", { name: "Fault rules" }).click();
  await card(page, "Faults").getByText("throttle", { exact: true }).first().waitFor();
  await page.getByRole("heading", { name: "Accounts, snapshots, faults and metrics" }).waitFor();
  assert.equal(await dialog.count(), 0);
  // The server's own errors do not name a fault rule.
  await go(page, "tables/missing");
  await page.locator("main .error").waitFor();
  assert.equal(await page.getByText("Injected").count(), 0);
  await browser.close(page);
});

// --- browser history

test("Back closes dialogs one by one and Forward does not reopen them", async () => {
  await create_table("carts", { ttl: null });
  await put("carts", { id: S("1") });
  const page = await browser.open(server, "tables");
  await go(page, "tables/carts");
  const dialogs = page.getByRole("dialog");
  await page.getByRole("button", { name: "1", exact: true }).click();
  await press(dialogs.last(), "Copy as code");
  await eventually(async () => (await dialogs.count()) === 2);
  await page.goBack();
  await eventually(async () => (await dialogs.count()) === 1);
  await page.goBack();
  await eventually(async () => (await dialogs.count()) === 0);
  assert.match(page.url(), /#\/tables\/carts$/);
  await page.goForward();
  await eventually(async () => (await page.evaluate(() => history.state.depth)) === 0);
  assert.equal(await dialogs.count(), 0);
  await page.goBack();
  await page.goBack();
  await page.getByText("Choose a table from the list.").waitFor();
  await browser.close(page);
});

test("a dialog that was closed with its own buttons adds nothing for Back to close", async () => {
  await create_table("carts", { ttl: null });
  const page = await browser.open(server, "tables");
  await go(page, "tables/carts");
  const dialog = page.getByRole("dialog");
  await press(page, "New item");
  await dialog.getByLabel("Value of id").fill("1");
  await press(dialog, "Put");
  await page.getByRole("button", { name: "1", exact: true }).click();
  await press(dialog, "Delete");
  await page.getByRole("button", { name: "Delete the item" }).click();
  await page.getByText("No items found.").waitFor();
  await eventually(async () => !(await page.evaluate(() => history.state?.depth)));
  await page.goBack();
  await page.getByText("Choose a table from the list.").waitFor();
  await browser.close(page);
});

test("a pane that is chosen immediately after a dialog closes stays open", async () => {
  await create_table("carts", { ttl: null });
  const page = await browser.open(server, "tables/carts");
  for (let round = 0; round < 5; ++round) {
    await press(page, "New item");
    await page.evaluate(() => {
      document.querySelector("dialog").close();
      location.hash = "#/time";
    });
    await page.getByRole("heading", { name: "What expires when" }).waitFor();
    await page.locator('main[data-shows="#/time"]:not([aria-busy])').waitFor();
    await eventually(async () => !(await page.evaluate(() => history.state?.depth)));
    assert.match(page.url(), /#\/time$/);
    await go(page, "tables/carts");
  }
  await browser.close(page);
});

test("Back restores a query with its page and scroll position, and a PartiQL statement", async () => {
  await create_table("carts", { sort: "at", ttl: null });
  await put_many("carts", 180, (at) => ({
    id: S(at < 150 ? "a" : "b"),
    at: N(at),
    status: S(at % 2 ? "open" : "paid"),
  }));
  const page = await browser.open(server, "tables/carts");
  const found = page.getByRole("region", { name: "Results" });
  await page.getByText("Query", { exact: true }).click();
  await page.getByLabel("Value of id").fill("a");
  await page.getByLabel("Comparison of at").selectOption(">=");
  await page.getByLabel("Value of at").fill("10");
  await page.getByLabel("Items per page").selectOption("25");
  await filter(page, "status", "open");
  await press(page, "Run");
  await found.getByText(/^Page 1: 25 items/).waitFor();
  await press(found, "Next →");
  await found.getByText(/^Page 2: 25 items/).waitFor();
  const seen = await found.locator("tbody td:nth-child(2)").allTextContents();
  await page.evaluate(() => scrollTo(0, 300));
  await eventually(() => page.evaluate(() => history.state?.view?.scroll === 300));
  await go(page, "time");
  await page.goBack();
  await found.getByText(/^Page 2: 25 items/).waitFor();
  assert.deepEqual(await found.locator("tbody td:nth-child(2)").allTextContents(), seen);
  assert.equal(await page.getByLabel("Value of id").inputValue(), "a");
  assert.equal(await page.getByLabel("Comparison of at").inputValue(), ">=");
  assert.equal(await page.getByLabel("Value of the filter").inputValue(), "open");
  await eventually(() => page.evaluate(() => scrollY === 300));
  await press(found, "← Back");
  await found.getByText(/^Page 1: 25 items/).waitFor();

  await go(page, "tables/carts/partiql");
  await page.getByLabel("Statement").fill("SELECT * FROM \"carts\" WHERE id = 'b'");
  await press(page, "Run");
  await found.getByText(/^Page 1: 30 items/).waitFor();
  await go(page, "streams");
  await page.goBack();
  await eventually(async () => (await page.getByLabel("Statement").inputValue()).includes("WHERE id = 'b'"));
  // A new visit, unlike Back, does not restore the query.
  await go(page, "time");
  await go(page, "tables/carts");
  await found.getByText(/^Page 1: 50 items/).waitFor();
  await browser.close(page);
});

test("pages send requests only to their own server", () => own.check_hosts());
