#!/usr/bin/env node
// The command `mayfly`. It runs the program that mayfly-dynamodb finds, and exits with the program's status.
"use strict";

const { constants } = require("node:os");
const { findBinary } = require("../dist/binary.js");
const { launch } = require("../dist/launch.js");

async function main() {
  const child = await launch(findBinary(), process.argv.slice(2), { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    // On Windows, the console reports Ctrl-C to both processes, and kill() would end the program before it can react.
    process.on(signal, () => process.platform === "win32" || child.kill(signal));
  }
  // If a signal ended the program, exits with 128 plus the signal number, as a shell does.
  child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

main().catch((problem) => {
  console.error(`mayfly: ${problem.message}`);
  process.exitCode = 1;
});
