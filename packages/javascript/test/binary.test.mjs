// Tests how the program is found, and the errors if it cannot be found or run.

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

test("the program in the platform's package is found", () => {
  const found = findBinary(undefined, { PATH: "" });
  assert.equal(found, join(root, `node_modules/@mayfly-dynamodb/linux-${process.arch}/bin/mayfly`));
});

test("MAYFLY_BINARY overrides the platform's package, and an argument overrides both", () => {
  assert.equal(findBinary(undefined, { MAYFLY_BINARY: binary }), binary);
  assert.equal(findBinary(binary, { MAYFLY_BINARY: "/not/there" }), binary);
});

test("no other program is tried if a configured program does not exist", () => {
  assert.throws(
    () => findBinary(undefined, { MAYFLY_BINARY: "/not/there/mayfly", PATH: process.env.PATH }),
    problem("binary-missing", /^MAYFLY_BINARY is set to \/not\/there\/mayfly, but there is no such file\.$/),
  );
  assert.throws(
    () => findBinary("/not/there/mayfly"),
    problem("binary-missing", /^The option binary is set to \/not\/there\/mayfly, but there is no such file\.$/),
  );
});

test("a file that is not executable is rejected", (t) => {
  const path = join(project(t, { mayfly: "a program, one day" }), "mayfly");
  assert.throws(() => findBinary(path), problem("binary-missing", /which is not executable: chmod \+x .*mayfly$/));
});

test("a program for another machine is rejected", (t) => {
  const path = join(project(t, {}), "mayfly");
  const machine = process.arch === "x64" ? 0xb7 : 0x3e;
  writeFileSync(path, Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, machine, 0]));
  chmodSync(path, 0o755);
  const other = process.arch === "x64" ? "arm64" : "x64";
  assert.throws(
    () => findBinary(path),
    problem("wrong-platform", new RegExp(`is a program for linux on ${other}, not for linux on ${process.arch}\\. Install`)),
  );
});

// Creates a project that has only the main package, as if the platform's package could not be installed.
function withoutPlatform(t) {
  const directory = project(t, { "find.cjs": 'console.log(require("mayfly-dynamodb").findBinary());' }, "/tmp");
  cpSync(join(root, "node_modules/mayfly-dynamodb"), join(directory, "node_modules/mayfly-dynamodb"), { recursive: true });
  return directory;
}

test("without the platform's package, the mayfly on PATH is found", async (t) => {
  const directory = withoutPlatform(t);
  symlinkSync(binary, join(directory, "mayfly"));
  const { output } = await node(directory, ["find.cjs"], { PATH: `/not/there:${directory}` });
  assert.equal(output.trim(), join(directory, "mayfly"));
});

test("if no program is found, the error says how to get one", async (t) => {
  const { status, output } = await node(withoutPlatform(t), ["find.cjs"], { PATH: "/not/there" });
  assert.equal(status, 1);
  assert.match(
    output,
    new RegExp(
      `No mayfly program found for linux on ${process.arch}: the package @mayfly-dynamodb/linux-${process.arch} is not ` +
        "installed, and PATH has no mayfly\\. Install the package for your platform \\(.*\\), or set MAYFLY_BINARY to a " +
        "mayfly that you have built\\.",
    ),
  );
});

test("the command mayfly skips itself when it searches PATH for the program", async (t) => {
  const directory = withoutPlatform(t);
  symlinkSync("node_modules/mayfly-dynamodb/bin/mayfly.js", join(directory, "mayfly"));
  const path = `${directory}:${process.execPath.replace(/\/node$/, "")}`;
  const { status, output } = await run(directory, join(directory, "mayfly"), ["--version"], { PATH: path });
  assert.equal(status, 1);
  assert.match(output, /^mayfly: No mayfly program found for linux/);
});

test("the command mayfly runs the program and exits with its status", async () => {
  const command = join(root, "node_modules/.bin/mayfly");
  const shown = await run(root, command, ["--version"]);
  assert.equal(shown.status, 0);
  assert.ok(shown.output.includes(version), shown.output);
  const wrong = await run(root, command, ["--no-such-option"]);
  assert.notEqual(wrong.status, 0);
  assert.equal(wrong.status, (await run(root, binary, ["--no-such-option"])).status);
});
