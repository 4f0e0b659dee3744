// Shared by the console's tests: a server, a browser, clients of DynamoDB and of the control API, and checks of a page.
//
// All of the browser's requests go through a proxy that records their hosts, including requests that no page made.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import {
  BatchWriteItemCommand,
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateTimeToLiveCommand,
} from "@aws-sdk/client-dynamodb";
import { chromium } from "playwright-core";

export const wait_ms_max = 20_000;

export async function eventually(condition) {
  const deadline = Date.now() + wait_ms_max;
  for (;;) {
    try {
      const result = await condition();
      if (result) return result;
      if (Date.now() > deadline) assert.fail("the condition did not become true in time");
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await pause(20);
  }
}

export class Server {
  static async start(...options) {
    const server = new Server();
    server.directory = mkdtempSync(join(tmpdir(), "mayfly-console-"));
    const port_file = join(server.directory, "port");
    const built = fileURLToPath(new URL("../../../build/release/mayfly", import.meta.url));
    server.process = spawn(
      process.env.MAYFLY_SERVER ?? built,
      [
        "serve",
        "--log-level",
        "warning",
        ...(options.includes("--port") ? [] : ["--port", "0"]),
        "--port-file",
        port_file,
        ...options,
      ],
      { stdio: ["ignore", "ignore", "inherit"] },
    );
    await eventually(() => {
      assert.equal(server.process.exitCode, null, "mayfly exited before it listened");
      return existsSync(port_file);
    });
    server.port = Number(readFileSync(port_file, "utf8"));
    server.url = `http://127.0.0.1:${server.port}`;
    server.dynamodb = new DynamoDBClient({
      endpoint: server.url,
      region: "us-east-1",
      credentials: { accessKeyId: "test", secretAccessKey: "test" },
      maxAttempts: 1,
    });
    return server;
  }

  async control(method, path, body) {
    const answer = await fetch(`${this.url}/_mayfly${path}`, {
      method,
      headers: { "Content-Type": "application/json" },
      body: body && JSON.stringify(body),
    });
    assert.equal(answer.status, 200, `${method} ${path}: ${await answer.clone().text()}`);
    return answer.json();
  }

  async stop(signal = "SIGTERM") {
    this.dynamodb.destroy();
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    if (this.process.exitCode === null) {
      this.process.kill(signal);
      await ended;
    }
    rmSync(this.directory, { recursive: true, force: true });
    if (signal === "SIGTERM") assert.equal(this.process.exitCode, 0);
  }
}

export class Browser {
  static async start() {
    const own = new Browser();
    own.hosts = new Set();
    own.asked = new Set(); // "ORIGIN URL" for each request of a page
    own.proxy = http.createServer((request, answer) => {
      const asked = new URL(request.url);
      own.hosts.add(asked.host);
      if (asked.hostname !== "127.0.0.1") return answer.destroy();
      const onward = http.request(
        {
          host: asked.hostname,
          port: asked.port,
          method: request.method,
          path: asked.pathname + asked.search,
          headers: request.headers,
        },
        (reply) => {
          answer.writeHead(reply.statusCode, reply.headers);
          reply.pipe(answer);
        },
      );
      onward.on("error", () => answer.destroy());
      answer.on("close", () => onward.destroy());
      request.pipe(onward);
    });
    own.proxy.on("connect", (request, socket) => {
      own.hosts.add(request.url);
      socket.destroy();
    });
    await new Promise((resolve) => own.proxy.listen(0, "127.0.0.1", resolve));
    own.browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      headless: true,
      args: [
        ...[
          "--no-sandbox",
          "--disable-gpu",
          "--disable-dev-shm-usage",
          "--disable-quic",
          "--no-first-run",
          "--disable-extensions",
        ],
        ...[
          "--disable-background-networking",
          "--disable-component-update",
          "--disable-sync",
          "--disable-default-apps",
        ],
      ],
      proxy: { server: `http://127.0.0.1:${own.proxy.address().port}`, bypass: "<-loopback>" },
    });
    return own;
  }

  /**
   * Opens a page with its own storage. An exception in the page's scripts or a violation of its content security policy
   * fails the test.
   */
  async open(server, path = "tables", { width = 1280, height = 860, theme = "light" } = {}) {
    const context = await this.browser.newContext({ viewport: { width, height }, colorScheme: theme });
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: server.url });
    const page = await context.newPage();
    page.setDefaultTimeout(wait_ms_max);
    page.troubles = [];
    context.on("request", (request) => this.asked.add(server.url + " " + request.url()));
    page.on("pageerror", (error) => page.troubles.push(String(error)));
    page.on("console", (message) => {
      // The browser logs every error response. The page itself shows these errors.
      if (message.type() === "error" && !/Failed to load resource/.test(message.text()))
        page.troubles.push(message.text());
    });
    await page.goto(`${server.url}/_mayfly/console#/${path}`);
    await shown(page, path);
    return page;
  }

  async close(page) {
    assert.deepEqual(page.troubles, []);
    await page.context().close();
  }

  async stop() {
    await this.browser.close();
    this.proxy.closeAllConnections();
    this.proxy.close();
  }
}

/** Waits until the pane is completely drawn. */
const shown = (page, path) => page.locator(`main[data-shows="#/${path}"]:not([aria-busy])`).waitFor();

/** Goes to another pane and waits until it is drawn. */
export async function go(page, path) {
  await page.evaluate((to) => {
    if (location.hash === "#/" + to) return;
    delete document.querySelector("main").dataset.shows;
    location.hash = "#/" + to;
  }, path);
  await shown(page, path);
}

// --- fixture

export const S = (text) => ({ S: text });
export const N = (number) => ({ N: String(number) });
export const start = Date.parse("2031-01-01T00:00:00Z") / 1000;

/**
 * Creates a server with these options and a browser for a file's tests. Calls `begun` once both are running. Each test starts
 * with an empty account whose clock is frozen at `start`.
 */
export function fixture(options, begun) {
  const own = {
    send: (command) => own.server.dynamodb.send(command),
    put: (TableName, Item) => own.send(new PutItemCommand({ TableName, Item })),
    get: async (TableName, Key) => (await own.send(new GetItemCommand({ TableName, Key }))).Item,
    async create_table(TableName, { sort, ttl = "ttl", stream = true } = {}) {
      const keys = [["id", "S", "HASH"], ...(sort ? [[sort, "N", "RANGE"]] : [])];
      await own.send(
        new CreateTableCommand({
          TableName,
          BillingMode: "PAY_PER_REQUEST",
          AttributeDefinitions: keys.map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
          KeySchema: keys.map(([AttributeName, , KeyType]) => ({ AttributeName, KeyType })),
          ...(stream ? { StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" } } : {}),
        }),
      );
      if (!ttl) return;
      const TimeToLiveSpecification = { Enabled: true, AttributeName: ttl };
      await own.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
    },
    async put_many(TableName, count, make) {
      for (let at = 0; at < count; at += 25) {
        const pieces = Array.from({ length: Math.min(25, count - at) }, (_, one) => ({
          PutRequest: { Item: make(at + one) },
        }));
        await own.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: pieces } }));
      }
    },
    async create_trigger(table, FunctionName, options = {}) {
      const EventSourceArn = (await own.server.control("GET", `/streams/${table}/shards`)).stream;
      const created = await fetch(own.server.url + "/2015-03-31/event-source-mappings/", {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          "X-Amz-Date": "20310101T000000Z",
          Authorization:
            "AWS4-HMAC-SHA256 Credential=test/20310101/us-east-1/lambda/aws4_request, SignedHeaders=host, Signature=0",
        },
        body: JSON.stringify({ EventSourceArn, FunctionName, StartingPosition: "TRIM_HORIZON", ...options }),
      });
      assert.equal(created.status, 202);
    },
    check_hosts() {
      const { asked, hosts } = own.browser;
      assert.ok(asked.size > 20);
      for (const [asker, url] of [...asked].map((pair) => pair.split(" "))) assert.equal(new URL(url).origin, asker);
      // Chromium itself calls Google's hosts; the proxy rejects these requests.
      const others = [...hosts].filter(
        (host) => !/^127\.0\.0\.1:\d+$|\.(google|googleapis|gvt1)\.com(:\d+)?$/.test(host),
      );
      assert.deepEqual(others, []);
      assert.ok(hosts.has(`127.0.0.1:${own.server.port}`));
    },
  };
  before(async () => {
    own.server = await Server.start(...options);
    own.browser = await Browser.start();
    begun();
  });
  after(async () => {
    await own.browser?.stop();
    await own.server?.stop();
  });
  beforeEach(async () => {
    await own.server.control("POST", "/reset", {});
    await own.server.control("PUT", "/clock", { mode: "frozen", now: "2031-01-01T00:00:00Z" });
  });
  return own;
}

// --- page elements

/** Returns the card with this heading. */
export const card = (page, heading) =>
  page.locator("section.card").filter({ has: page.getByRole("heading", { name: heading, exact: true }) });
export const press = (place, name) => place.getByRole("button", { name, exact: true }).click();

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Checks that axe-core finds nothing serious or critical. */
export async function check_accessible(page, where) {
  // The debugger loads axe-core, so that the page keeps its content security policy.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  assert.deepEqual(
    serious.map(({ id, nodes }) => [where, id, nodes.map((node) => node.html).slice(0, 3)]),
    [],
  );
}
