// Finds the program. It tries the caller's path, MAYFLY_BINARY, the platform's package and PATH, in this order.
//
// If the file that the caller or MAYFLY_BINARY names does not exist, no other program is tried.

import { accessSync, closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";

import { ServerError } from "./errors";

const howToGetIt =
  "Install the package for your platform (@mayfly-dynamodb/linux-x64 or @mayfly-dynamodb/linux-arm64), " +
  "or set MAYFLY_BINARY to a mayfly that you have built.";

/**
 * Finds the program that `Server.start()` runs: `named`, MAYFLY_BINARY, the platform's package, or `mayfly` on PATH.
 * Returns its path. If no program is found, or the program is for another platform, throws a ServerError that says what
 * to do.
 */
export function findBinary(named?: string, environment: NodeJS.ProcessEnv = process.env): string {
  if (named) return usable(named, "The option binary");
  if (environment.MAYFLY_BINARY) return usable(environment.MAYFLY_BINARY, "MAYFLY_BINARY");
  const found = bundledBinary() ?? binaryOnPath(environment.PATH ?? "");
  if (found) {
    checkPlatform(found);
    return found;
  }
  throw new ServerError(
    "no-binary",
    `No mayfly program found for ${process.platform} on ${process.arch}: the package @mayfly-dynamodb/` +
      `${process.platform}-${process.arch} is not installed, and PATH has no mayfly. ${howToGetIt}`,
  );
}

function usable(path: string, whence: string): string {
  const missing = (what: string) => new ServerError("binary-missing", `${whence} is set to ${path}, ${what}`);
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) throw missing("but there is no such file.");
  if (!isExecutable(path)) throw missing(`which is not executable: chmod +x ${path}`);
  checkPlatform(path);
  return resolve(path);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function bundledBinary(): string | undefined {
  const name = `@mayfly-dynamodb/${process.platform}-${process.arch}/package.json`;
  let description: string;
  try {
    description = require.resolve(name);
  } catch {
    return undefined;
  }
  const binary = join(dirname(description), "bin", "mayfly");
  return statSync(binary, { throwIfNoEntry: false })?.isFile() ? binary : undefined;
}

function binaryOnPath(path: string): string | undefined {
  return path
    .split(delimiter)
    .filter((directory) => directory !== "")
    .map((directory) => resolve(directory, "mayfly"))
    .find(
      (file) => statSync(file, { throwIfNoEntry: false })?.isFile() && isExecutable(file) && !isOurScript(file),
    );
}

// `npm run` puts node_modules/.bin on PATH, where `mayfly` is this package's own script. That script calls
// findBinary() and would run itself. Other package managers put a shell script there, which runs this package's script.
function isOurScript(file: string): boolean {
  const start = head(file, 4096);
  return start.subarray(0, 2).toString() === "#!" && start.includes("mayfly-dynamodb");
}

function head(file: string, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  const descriptor = openSync(file, "r");
  try {
    return buffer.subarray(0, readSync(descriptor, buffer, 0, bytes, 0));
  } finally {
    closeSync(descriptor);
  }
}

// An ELF header begins with 0x7f "ELF" and has the machine at offset 18. The header is checked here, because if
// the kernel refused the program, a shell would try to run the program as a script.
const machines: Record<number, string> = { 0x3e: "x64", 0xb7: "arm64", 0x28: "arm", 0x03: "ia32", 0xf3: "riscv64" };

function checkPlatform(path: string): void {
  const start = head(path, 20);
  if (start.subarray(0, 2).toString() === "#!") return;
  const isElf = start.length === 20 && start.readUInt32BE(0) === 0x7f454c46;
  const platform = isElf ? "linux" : isMachO(start) ? "darwin" : "an unknown platform";
  const machine = isElf ? (machines[start.readUInt16LE(18)] ?? "another machine") : process.arch;
  if (platform === process.platform && machine === process.arch) return;
  throw new ServerError(
    "wrong-platform",
    `${path} is a program for ${platform}${isElf ? ` on ${machine}` : ""}, not for ` +
      `${process.platform} on ${process.arch}. ${howToGetIt}`,
  );
}

function isMachO(start: Buffer): boolean {
  return start.length >= 4 && [0xcffaedfe, 0xcafebabe].includes(start.readUInt32BE(0));
}
