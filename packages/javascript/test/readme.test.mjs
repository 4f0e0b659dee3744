// README.md's examples, each run as it stands. A block that opens with a file's name is that file, of a project made of
// its section (the first section and those of Jest have runners of their own); the others go on in one world.

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

test("Vitest's, with the one that follows", async (t) => {
  passed(2, await vitest(project(t, filesOf("mayfly-dynamodb", "Two clocks"))));
});

test("Jest's, with a jest-dynamodb-config.js and the environment", async (t) => {
  const files = filesOf("Jest", "Code that makes its own clients");
  assert.deepEqual(Object.keys(files).sort(), [
    "carts.test.js",
    "environment.test.js",
    "files.test.js",
    "jest-dynamodb-config.js",
    "jest.config.js",
  ]);
  // Its port may be somebody's on this machine.
  files["jest-dynamodb-config.js"] = files["jest-dynamodb-config.js"].replace("port: 8000", "port: 0");
  passed(3, await jest(project(t, files)));
});

test("node:test's", async (t) => {
  passed(1, await node(project(t, filesOf("node:test")), ["--test", "--test-reporter=tap"]));
});

test("the program's", async (t) => {
  const { status, output } = await node(project(t, filesOf("Anywhere")), ["program.mjs"]);
  assert.equal(status, 0, output);
  assert.equal(output, "2031-01-01T00:00:00.000Z\n");
});

test("those of a world, one after the other", async () => {
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

test("no other block is left out", () => {
  const run = ["mayfly-dynamodb", "Two clocks", "Jest", "Code that makes its own clients", "node:test", "Anywhere", "A world"];
  for (const [name, code] of sections) assert.ok(run.includes(name) || code.length === 0, name);
});
