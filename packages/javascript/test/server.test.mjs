// Tests a server's start and end, and the errors if the server cannot be started or reached.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";

import { ListStreamsCommand } from "@aws-sdk/client-dynamodb-streams";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { MayflyError, Server, ServerError } from "mayfly-dynamodb";

import { gone, isRunning, killed, pretend, project, userEnvironment, version } from "./project.mjs";

async function refusal(options) {
  try {
    const server = await Server.start(options);
    await server.close();
  } catch (error) {
    assert.ok(error instanceof ServerError, error.stack);
    return error;
  }
  assert.fail("the server started");
}

test("a server answers when start() returns, and has ended when close() returns", async () => {
  const server = await Server.start();
  assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.equal(server.version, version);
  const health = await (await fetch(`${server.url}/_mayfly/health`)).json();
  assert.equal(health.status, "ok");
  const { pid, log } = server;
  assert.ok(isRunning(pid));
  assert.match(log.tail(), /mayfly/);
  await server.close();
  assert.ok(!isRunning(pid));
  assert.ok(!existsSync(dirname(log.path)));
});

test("two servers share no data", async () => {
  const [one, other] = await Promise.all([Server.start(), Server.start()]);
  assert.notEqual(one.url, other.url);
  await Promise.all([one.close(), other.close()]);
});

test("arguments are passed to the program and override the package's own arguments", async () => {
  const server = await Server.start({ args: ["--clock", "frozen", "--now", "2031-01-01T00:00:00Z", "--accounts-max=3"] });
  const world = await server.world();
  assert.equal((await world.clock.now()).toISOString(), "2031-01-01T00:00:00.000Z");
  await server.close();
});

test("a port in use is reported", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  t.after(() => other.close());
  await new Promise((listening) => other.once("listening", listening));
  const { port } = other.address();
  const error = await refusal({ port });
  assert.equal(error.problem, "port-taken");
  assert.match(
    error.message,
    new RegExp(`^127\\.0\\.0\\.1:${port} is in use. Stop the program that listens there, or choose another port \\(0 for a free one\\)`),
  );
});

test("a program that exits before it answers is reported with its status and log", async (t) => {
  const program = pretend(t, `console.error("the moon is in the way"); process.exit(3);`);
  const error = await refusal({ binary: program });
  assert.equal(error.problem, "ended");
  assert.equal(error.message, `${program} exited with status 3 before it was ready. Its log:\n  the moon is in the way`);
});

test("an unknown option is reported with the program's message", async () => {
  const error = await refusal({ args: ["--no-such-option"] });
  assert.equal(error.problem, "ended");
  assert.match(error.message, /--no-such-option/);
});

test("a start that exceeds the time limit fails and ends the process", async (t) => {
  const program = pretend(t, `console.error(process.pid + " waits"); setTimeout(() => {}, 60_000);`);
  const error = await refusal({ binary: program, startTimeoutMs: 3000 });
  assert.equal(error.problem, "timed-out");
  const [, pid] = / did not start within 3000 ms\. Its log:\n {2}(\d+) waits$/.exec(error.message);
  await gone(Number(pid));
});

// A server that handles each request with the code `answer`. `end` is the end of a line.
const pretender = (answer, end = "\\n") => `
const server = require("node:http").createServer((request, response) => { ${answer} });
server.listen(0, "127.0.0.1", () => {
  process.stderr.write("one${end}two${end}");
  process.stdout.write("mayfly listening on http://127.0.0.1:" + server.address().port + "${end}");
});
`;
const healthy = `response.end('{"status":"ok","version":"${version}"}');`;

test("a program that listens but does not answer is reported", async (t) => {
  const program = pretend(t, pretender(""));
  const error = await refusal({ binary: program, startTimeoutMs: 3000 });
  assert.equal(error.problem, "timed-out");
  assert.match(error.message, /^http:\/\/127\.0\.0\.1:\d+ did not answer: no response within 3000 ms\./);
});

test("lines that end with CRLF, as on Windows, are read", async (t) => {
  const program = pretend(t, pretender(healthy, "\\r\\n"));
  const server = await Server.start({ binary: program });
  assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.equal(server.log.tail(), "one\ntwo");
  await server.close();
});

test("the error for a server of another release names both versions", async (t) => {
  const program = pretend(t, pretender(`response.end('{"status":"ok","version":"9.7.1"}')`));
  const error = await refusal({ binary: program });
  assert.equal(error.problem, "version-mismatch");
  const line = version.split(".").slice(0, 2).join(".");
  assert.ok(
    error.message.includes(
      `${program} is Mayfly 9.7.1, but mayfly-dynamodb ${version} needs a ${line} server. Install ` +
        `mayfly-dynamodb@9.7, or use a ${line} server`,
    ),
    error.message,
  );
});

test("an existing server at a URL is used, and close() leaves it running", async (t) => {
  const server = await Server.start();
  t.after(() => server.close());
  const attached = await Server.start({ url: `${server.url}/` });
  assert.equal(attached.url, server.url);
  assert.equal(attached.pid, undefined);
  await attached.close();
  assert.ok(isRunning(server.pid));
});

test("MAYFLY_URL selects an existing server", async (t) => {
  const server = await Server.start();
  t.after(() => server.close());
  process.env.MAYFLY_URL = server.url;
  t.after(() => delete process.env.MAYFLY_URL);
  const attached = await Server.start();
  assert.equal(attached.url, server.url);
  assert.equal(attached.pid, undefined);
});

test("the error for a URL where no server answers names the URL", async () => {
  const error = await refusal({ url: "http://127.0.0.1:1" });
  assert.equal(error.problem, "unreachable");
  assert.match(
    error.message,
    /^No Mayfly server answers at http:\/\/127\.0\.0\.1:1 \(.*ECONNREFUSED.*\)\. Start one there, or unset MAYFLY_URL/,
  );
});

test("a call to a dead server reports how the server died and its log", async () => {
  const died = (request) => (error) => {
    assert.ok(error instanceof MayflyError, error.stack);
    assert.equal(error.type, "Unreachable");
    assert.equal(error.status, 0);
    const [first, second] = error.message.split("\n");
    assert.equal(first, `Mayfly's server ${killed} before it answered ${request}. Its log:`);
    assert.match(second, /^ {2}.* info mayfly .* keeps everything in memory/);
    return true;
  };
  const server = await Server.start();
  const world = await server.world();
  await world.createTable("carts", { ttl: "ttl" });
  process.kill(server.pid, "SIGKILL");
  await assert.rejects(world.documents.send(new PutCommand({ TableName: "carts", Item: { id: "1" } })), died("PutItem"));
  await assert.rejects(world.streams.send(new ListStreamsCommand({})), died("ListStreams"));
  await assert.rejects(world.clock.now(), died("GET /_mayfly/clock"));
  await assert.rejects(server.world(), {
    name: "ServerError",
    problem: "ended",
    message: new RegExp(`^Mayfly's server ${killed}\\. Start a new one\\. Its log:\n`),
  });
  await world.close();
  await server.close();
});

test("a server that exited is reported with its status", async (t) => {
  const impatient = `if (request.url !== "/_mayfly/health") { console.error("out of patience"); process.exit(7); } ${healthy}`;
  const server = await Server.start({ binary: pretend(t, pretender(impatient)) });
  const world = await server.world();
  await assert.rejects(world.clock.now(), {
    message: "Mayfly's server exited with status 7 before it answered GET /_mayfly/clock. Its log:\n  one\n  two\n  out of patience",
  });
  await server.close();
});

test("an external server that does not answer is reported by its URL", async () => {
  const owned = await Server.start();
  const world = await (await Server.start({ url: owned.url })).world();
  await owned.close();
  await assert.rejects(world.clock.now(), {
    type: "Unreachable",
    message: /^http:\/\/127\.0\.0\.1:\d+ did not answer GET \/_mayfly\/clock: .*\. Check that the server is running\.$/,
  });
  await assert.rejects(world.documents.send(new PutCommand({ TableName: "carts", Item: { id: "1" } })), { code: "ECONNREFUSED" });
});

// Runs a process that starts a server, prints the server's pid, and then runs the code `then`.
function starter(t, then) {
  const script = `
    const { Server } = require("mayfly-dynamodb");
    Server.start().then((server) => { console.log(server.pid); ${then} });
  `;
  const directory = project(t, { "start.cjs": script });
  const child = spawn(process.execPath, ["start.cjs"], {
    cwd: directory,
    env: userEnvironment(),
    stdio: ["ignore", "pipe", "ignore"],
  });
  const pid = new Promise((said) => createInterface(child.stdout).once("line", (line) => said(Number(line))));
  return { child, pid };
}

test("a server exits when its parent process is killed", async (t) => {
  const { child, pid } = starter(t, "setInterval(() => {}, 1000);");
  const server = await pid;
  assert.ok(isRunning(server));
  child.kill("SIGKILL");
  await gone(server);
});

test("a server exits after its parent process exits without closing it", async (t) => {
  for (const then of ["process.exit(3);", "throw new Error('as tests do');", ""]) {
    const { child, pid } = starter(t, then);
    const ended = new Promise((resolve) => child.once("exit", resolve));
    const server = await pid;
    await ended;
    await gone(server);
  }
});
