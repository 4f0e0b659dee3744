// Creates and runs small user projects, each in its own directory below the one where the packages are installed.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
export const binary = process.env.MAYFLY_TEST_BINARY;
export const version = process.env.MAYFLY_TEST_VERSION;
export const windows = process.platform === "win32";

/** The platforms that have a program: how their packages are named, and how messages name them. */
export const platformNames = {
  "darwin-arm64": "macOS on arm64",
  "darwin-x64": "macOS on x64",
  "linux-arm64": "Linux on arm64",
  "linux-x64": "Linux on x64",
  "win32-x64": "Windows on x64",
};
export const platforms = Object.keys(platformNames);
export const platform = `${process.platform}-${process.arch}`;

/** How a server has ended after `process.kill(pid, "SIGKILL")`. Windows has no signals. */
export const killed = windows ? "exited with status 1" : "was killed by SIGKILL";

/** Loads one of the package's own modules, which the package does not export: `internal("files")`. */
export const internal = (name) => createRequire(import.meta.url)(join(root, "node_modules/mayfly-dynamodb/dist", `${name}.js`));

/**
 * Makes the current directory a project whose script `serve` runs in place of a server: Server.start({ binary:
 * process.execPath }) passes `serve` as the first argument to Node. It works on every platform.
 */
export function pretend(t, script) {
  const before = process.cwd();
  t.after(() => process.chdir(before));
  process.chdir(project(t, { "serve.js": script }));
  return process.execPath;
}

/** Creates a directory with `files`, a map from name to text. It is removed when the test ends. */
export function project(t, files, parent = root) {
  mkdirSync(join(parent, "projects"), { recursive: true });
  const directory = mkdtempSync(join(parent, "projects", "p-"));
  t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }));
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
  const { NODE_TEST_CONTEXT, NODE_OPTIONS = "", FORCE_COLOR, MAYFLY_URL, MAYFLY_BINARY, ...rest } = process.env;
  const wine = NODE_OPTIONS.includes("wine.cjs") ? { NODE_OPTIONS } : {};
  return { ...rest, ...wine, NO_COLOR: "1", NODE_NO_WARNINGS: "1" };
}

export const node = (directory, args, environment) => run(directory, process.execPath, args, environment);
export const vitest = (directory, ...args) =>
  node(directory, [join(root, "node_modules/vitest/vitest.mjs"), "run", ...args]);
export const jest = (directory, ...args) => node(directory, [join(root, "node_modules/jest/bin/jest.js"), ...args]);

/** Whether a process is running. On Linux, a zombie does not count as running. */
export function isRunning(pid) {
  try {
    if (process.platform === "linux") return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The first bytes of a program for a platform, `linux-x64` for example, as its linker writes them. */
export function programFor(platform) {
  const bytes = Buffer.alloc(512);
  const [os, cpu] = platform.split("-");
  if (os === "linux") {
    bytes.write("7f454c46020101", "hex"); // a 64-bit, little-endian ELF file
    bytes.writeUInt16LE(2, 16);
    bytes.writeUInt16LE({ x64: 0x3e, arm64: 0xb7 }[cpu], 18);
  } else if (os === "darwin") {
    bytes.write("cffaedfe", "hex"); // a 64-bit, little-endian Mach-O file
    bytes.writeUInt32LE({ x64: 0x01000007, arm64: 0x0100000c }[cpu], 4);
  } else {
    bytes.write("MZ");
    bytes.writeUInt32LE(0x80, 60);
    bytes.write("PE\0\0", 0x80);
    bytes.writeUInt16LE({ x64: 0x8664, arm64: 0xaa64 }[cpu], 0x84);
  }
  return bytes;
}

/** Waits until a process has ended. Throws if that takes more than `msMax` milliseconds. */
export async function gone(pid, msMax = 5000) {
  const deadline = Date.now() + msMax;
  while (isRunning(pid)) {
    if (Date.now() > deadline) throw new Error(`process ${pid} still runs after ${msMax} ms`);
    await new Promise((resume) => setTimeout(resume, 5));
  }
}
