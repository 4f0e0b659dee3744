// Creates and runs small user projects, each in its own directory below the one where the packages are installed.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

export const root = resolve(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "..");
export const binary = process.env.MAYFLY_TEST_BINARY;
export const version = process.env.MAYFLY_TEST_VERSION;

/** Creates a directory with `files`, a map from name to text. It is removed when the test ends. */
export function project(t, files, parent = root) {
  mkdirSync(join(parent, "projects"), { recursive: true });
  const directory = mkdtempSync(join(parent, "projects", "p-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries({ "package.json": '{"private": true}', ...files })) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text, { mode: text.startsWith("#!") ? 0o755 : 0o644 });
  }
  return directory;
}

/** Runs a program to its end. Returns { status, signal, output }, where output is stdout and stderr interleaved. */
export async function run(directory, command, args, environment = {}) {
  const child = spawn(command, args, {
    cwd: directory,
    env: { ...userEnvironment(), ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (part) => (output += part));
  child.stderr.on("data", (part) => (output += part));
  const [status, signal] = await new Promise((done, failed) => {
    child.on("error", failed);
    child.on("close", (...how) => done(how));
  });
  return { status, signal, output };
}

/** This process's environment, without the variables that its test runner has set. */
export function userEnvironment() {
  const { NODE_TEST_CONTEXT, NODE_OPTIONS, FORCE_COLOR, MAYFLY_URL, MAYFLY_BINARY, ...rest } = process.env;
  return { ...rest, NO_COLOR: "1", NODE_NO_WARNINGS: "1" };
}

export const node = (directory, args, environment) => run(directory, process.execPath, args, environment);
export const vitest = (directory, ...args) =>
  node(directory, [join(root, "node_modules/vitest/vitest.mjs"), "run", ...args]);
export const jest = (directory, ...args) => node(directory, [join(root, "node_modules/jest/bin/jest.js"), ...args]);

/** Whether a process is running. A zombie does not count as running. */
export function isRunning(pid) {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

/** Waits until a process has ended. Throws if that takes more than `msMax` milliseconds. */
export async function gone(pid, msMax = 5000) {
  const deadline = Date.now() + msMax;
  while (isRunning(pid)) {
    if (Date.now() > deadline) throw new Error(`process ${pid} still runs after ${msMax} ms`);
    await new Promise((resume) => setTimeout(resume, 5));
  }
}
