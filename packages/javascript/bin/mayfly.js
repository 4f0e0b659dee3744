#!/usr/bin/env node
// The command `mayfly`. It runs the program that mayfly-dynamodb finds, and exits with the program's status.
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
// If a signal ended the program, exits with 128 plus the signal number, as a shell does.
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
