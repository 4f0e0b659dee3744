#!/usr/bin/env node
// `mayfly` on the command line: runs the binary that mayfly-dynamodb found, and ends as it ends.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { findBinary } = require("../dist/binary.js");

let binary;
try {
  binary = findBinary();
} catch (problem) {
  console.error(`mayfly: ${problem.message}`);
  process.exit(1);
}

const child = spawn(binary, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (problem) => {
  console.error(`mayfly: cannot run ${binary}: ${problem.message}`);
  process.exitCode = 1;
});
// As shells say it: 128 and the signal's number.
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
