// Runs the README's examples unchanged. A block that starts with a file name becomes that file in a project, which contains
// the files of one or more sections. The other blocks run one after the other in one world.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { Server } from "mayfly-dynamodb";

import { jest, node, project, root, vitest } from "./project.mjs";

const sections = new Map(
  readFileSync(join(root, "README.md"), "utf8")
    .split(/^#{1,2} /m)
    .slice(1)
    .map((text) => [text.slice(0, text.indexOf("\n")), blocks(text)]),
);

function blocks(text) {
  return [...text.matchAll(/^```js\n([^]*?)^```$/gm)].map(([, code]) => code);
}

const fileName = (code) => /^\/\/ (\S+\.[cm]?js)\n/.exec(code)?.[1];
const filesOf = (...names) =>
  Object.fromEntries(names.flatMap((name) => sections.get(name)).map((code) => [fileName(code), code]));

function passed(count, { status, output }) {
  assert.equal(status, 0, output);
  assert.match(output, new RegExp(`Tests: +${count} passed|Tests +${count} passed|# pass ${count}\n`));
}

test("the Vitest examples pass", async (t) => {
  passed(2, await vitest(project(t, filesOf("mayfly-dynamodb", "Two clocks"))));
});

test("the Jest examples pass, including those with jest-dynamodb-config.js and the option environment", async (t) => {
  const files = filesOf("Jest", "Code that creates its own clients");
  assert.deepEqual(Object.keys(files).sort(), [
    "carts.test.js",
    "environment.test.js",
    "files.test.js",
    "jest-dynamodb-config.js",
    "jest.config.js",
  ]);
  // Port 8000 may be in use on this machine.
  files["jest-dynamodb-config.js"] = files["jest-dynamodb-config.js"].replace("port: 8000", "port: 0");
  passed(3, await jest(project(t, files)));
});

test("the node:test example passes", async (t) => {
  passed(1, await node(project(t, filesOf("node:test")), ["--test", "--test-reporter=tap"]));
});

test("the example program prints the expected output", async (t) => {
  const { status, output } = await node(project(t, filesOf("Without a test runner")), ["program.mjs"]);
  assert.equal(status, 0, output);
  assert.equal(output, "2031-01-01T00:00:00.000Z\n");
});

test("the examples in the section about worlds run one after the other in one world", async () => {
  const server = await Server.start();
  const world = await server.world({ frozen: "2031-01-01T00:00:00Z" });
  const examples = sections.get("A world");
  assert.equal(examples.length, 9);
  for (const code of examples) {
    const AsyncFunction = (async () => {}).constructor;
    await new AsyncFunction("assert", "PutCommand", "world", code)(assert, PutCommand, world);
  }
  await world.close();
  await server.close();
});

test("every example is run by a test", () => {
  const run = ["mayfly-dynamodb", "Two clocks", "Jest", "Code that creates its own clients", "node:test", "Without a test runner", "A world"];
  for (const [name, code] of sections) assert.ok(run.includes(name) || code.length === 0, name);
});
