// Where the program is found, and what is said where it is not.

import assert from "node:assert/strict";
import { chmodSync, cpSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { findBinary, ServerError } from "mayfly-dynamodb";

import { binary, node, project, root, run, version } from "./project.mjs";

const problem = (name, message) => (error) => {
  assert.ok(error instanceof ServerError, error.stack);
  assert.equal(error.problem, name);
  assert.match(error.message, message);
  return true;
};

test("the platform's package has it", () => {
  const found = findBinary(undefined, { PATH: "" });
  assert.equal(found, join(root, `node_modules/@mayfly-dynamodb/linux-${process.arch}/bin/mayfly`));
});

test("MAYFLY_BINARY comes before the platform's package, and an argument before that", () => {
  assert.equal(findBinary(undefined, { MAYFLY_BINARY: binary }), binary);
  assert.equal(findBinary(binary, { MAYFLY_BINARY: "/not/there" }), binary);
});

test("a named program that is not there is named, and nothing else is taken", () => {
  assert.throws(
    () => findBinary(undefined, { MAYFLY_BINARY: "/not/there/mayfly", PATH: process.env.PATH }),
    problem("binary-missing", /^MAYFLY_BINARY names \/not\/there\/mayfly, and there is no such file\.$/),
  );
  assert.throws(
    () => findBinary("/not/there/mayfly"),
    problem("binary-missing", /^the option binary names \/not\/there\/mayfly, and there is no such file\.$/),
  );
});

test("a named program that may not be executed is named", (t) => {
  const path = join(project(t, { mayfly: "a program, one day" }), "mayfly");
  assert.throws(() => findBinary(path), problem("binary-missing", /which may not be executed: chmod \+x .*mayfly$/));
});

test("a program for another machine is told from one for this", (t) => {
  const path = join(project(t, {}), "mayfly");
  const machine = process.arch === "x64" ? 0xb7 : 0x3e;
  writeFileSync(path, Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, machine, 0]));
  chmodSync(path, 0o755);
  const other = process.arch === "x64" ? "arm64" : "x64";
  assert.throws(
    () => findBinary(path),
    problem("wrong-platform", new RegExp(`is no program for linux on ${process.arch}, but for linux on ${other}\\. Install`)),
  );
});

// The main package alone, as where no platform's package could be installed.
function withoutPlatform(t) {
  const directory = project(t, { "find.cjs": 'console.log(require("mayfly-dynamodb").findBinary());' }, "/tmp");
  cpSync(join(root, "node_modules/mayfly-dynamodb"), join(directory, "node_modules/mayfly-dynamodb"), { recursive: true });
  return directory;
}

test("without the platform's package it is the mayfly on PATH", async (t) => {
  const directory = withoutPlatform(t);
  symlinkSync(binary, join(directory, "mayfly"));
  const { output } = await node(directory, ["find.cjs"], { PATH: `/not/there:${directory}` });
  assert.equal(output.trim(), join(directory, "mayfly"));
});

test("where there is none, a sentence says how to get one", async (t) => {
  const { status, output } = await node(withoutPlatform(t), ["find.cjs"], { PATH: "/not/there" });
  assert.equal(status, 1);
  assert.match(
    output,
    new RegExp(
      `There is no mayfly for linux on ${process.arch} here: no package @mayfly-dynamodb/linux-${process.arch} is ` +
        "installed, and no mayfly is on PATH\\. Install the package of your platform \\(.*\\), or set MAYFLY_BINARY to a " +
        "mayfly that you have built\\.",
    ),
  );
});

test("the command mayfly does not find itself on PATH", async (t) => {
  const directory = withoutPlatform(t);
  symlinkSync("node_modules/mayfly-dynamodb/bin/mayfly.js", join(directory, "mayfly"));
  const path = `${directory}:${process.execPath.replace(/\/node$/, "")}`;
  const { status, output } = await run(directory, join(directory, "mayfly"), ["--version"], { PATH: path });
  assert.equal(status, 1);
  assert.match(output, /^mayfly: There is no mayfly for linux/);
});

test("the command mayfly is the program, and ends as it ends", async () => {
  const command = join(root, "node_modules/.bin/mayfly");
  const shown = await run(root, command, ["--version"]);
  assert.equal(shown.status, 0);
  assert.ok(shown.output.includes(version), shown.output);
  const wrong = await run(root, command, ["--no-such-option"]);
  assert.notEqual(wrong.status, 0);
  assert.equal(wrong.status, (await run(root, binary, ["--no-such-option"])).status);
});
