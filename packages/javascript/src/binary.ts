// Finds the program. It tries the caller's path, MAYFLY_BINARY, the platform's package and PATH, in this order.
//
// If the file that the caller or MAYFLY_BINARY names does not exist, no other program is tried.

import { createHash } from "node:crypto";
import { accessSync, chmodSync, closeSync, constants, openSync, readFileSync, readSync, statSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";

import { ServerError } from "./errors";
import { onceFreeSync } from "./files";
import { explainMissing, packageFor } from "./missing";
import { headBytes, platformName, platformProblem, thisPlatform, type Platform } from "./platform";

/** Where to find a program, and for which platform. Tests pass another platform than that of the process. */
export interface Search {
  /** The caller's path. */
  named?: string;
  environment?: NodeJS.ProcessEnv;
  host?: Platform;
  /** The path of an installed package's package.json; undefined if the package is not installed. */
  packageJson?: (name: string) => string | undefined;
  /** Directories of the project, in which an error message looks for the lockfile. */
  directories?: string[];
}

/**
 * Finds the program that `Server.start()` runs: `named`, MAYFLY_BINARY, the platform's package, or `mayfly` on PATH.
 * Returns its path. If no program is found, or the program is damaged or for another platform, throws a ServerError that
 * says what to do.
 */
export function findBinary(named?: string, environment: NodeJS.ProcessEnv = process.env): string {
  return find({ named, environment });
}

/** `findBinary` for any platform. */
export function find(search: Search): string {
  const { named, environment = process.env, host = thisPlatform, packageJson = installedPackage } = search;
  if (named) return configured(named, "the option binary", host);
  if (environment.MAYFLY_BINARY) return configured(environment.MAYFLY_BINARY, "MAYFLY_BINARY", host);
  const bundled = bundledBinary(host, packageJson);
  if (bundled) return bundled;
  const found = binaryOnPath(environment.PATH ?? "", host);
  if (found) {
    checkPlatform(found, host, `Remove it from PATH, or set MAYFLY_BINARY to a program for ${platformName(host)}.`);
    return found;
  }
  const directories = search.directories ?? [__dirname, process.cwd()];
  const installed = (name: string) => packageJson(name) !== undefined;
  throw new ServerError("no-binary", explainMissing(host, { directories, installed }));
}

function configured(path: string, whence: string, host: Platform): string {
  const subject = whence[0]!.toUpperCase() + whence.slice(1);
  const missing = (what: string) => new ServerError("binary-missing", `${subject} is set to ${path}, ${what}`);
  // Windows runs C:\tools\mayfly.exe if a command is C:\tools\mayfly.
  const file = host.os === "win32" && !isFile(path) && isFile(`${path}.exe`) ? `${path}.exe` : path;
  if (!isFile(file)) throw missing("but there is no such file.");
  if (!isExecutable(file)) throw missing(`which is not executable: chmod +x ${path}`);
  checkPlatform(file, host, `Set ${whence} to a program for this platform, or remove the setting to use the package's own program.`);
  return resolve(file);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function programName(host: Platform): string {
  return host.os === "win32" ? "mayfly.exe" : "mayfly";
}

function installedPackage(name: string): string | undefined {
  try {
    return require.resolve(`${name}/package.json`);
  } catch {
    return undefined;
  }
}

function bundledBinary(host: Platform, packageJson: (name: string) => string | undefined): string | undefined {
  const name = packageFor(host);
  const description = name && packageJson(name);
  if (!description) return undefined;
  const binary = join(dirname(description), "bin", programName(host));
  const size = statSync(binary, { throwIfNoEntry: false })?.size;
  const expected = fingerprintOf(binary);
  if (size === undefined) throw damaged(binary, "it is missing");
  if (expected && size !== expected.size) throw damaged(binary, `it has ${size} bytes instead of ${expected.size}`);
  checkPlatform(binary, host, "Install your packages again on this machine.");
  makeExecutable(binary);
  return binary;
}

// Some tools that copy node_modules, for example as an artifact between CI jobs, lose the permission to execute files.
function makeExecutable(binary: string): void {
  if (isExecutable(binary)) return;
  try {
    chmodSync(binary, 0o755);
  } catch (problem) {
    throw new ServerError(
      "binary-missing",
      `${binary} is not executable, and its mode cannot be changed (${(problem as Error).message}). Run: chmod +x ${binary}`,
    );
  }
}

interface Fingerprint {
  size: number;
  sha256: string;
}

// The facts in the platform's package about its program; undefined for any other program.
function fingerprintOf(binary: string): Fingerprint | undefined {
  try {
    const { name, mayfly } = JSON.parse(readFileSync(join(dirname(binary), "..", "package.json"), "utf8"));
    return String(name).startsWith("@mayfly-dynamodb/") ? mayfly : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The error for a program of a platform's package whose bytes have changed; undefined if they have not, or if the program
 * is from elsewhere. Reading the bytes takes some 20 ms, so this is called only after the program has failed to start.
 */
export function damageOf(binary: string): ServerError | undefined {
  const expected = fingerprintOf(binary);
  if (!expected) return undefined;
  let bytes: Buffer;
  try {
    bytes = onceFreeSync(() => readFileSync(binary));
  } catch (problem) {
    return damaged(binary, `it cannot be read (${(problem as Error).message})`);
  }
  if (createHash("sha256").update(bytes).digest("hex") === expected.sha256) return undefined;
  return damaged(binary, "its SHA-256 checksum differs from the one that its package names");
}

function damaged(binary: string, how: string): ServerError {
  const directory = dirname(dirname(binary));
  return new ServerError(
    "damaged",
    `The program ${binary} is damaged: ${how}. Delete ${directory} and install your packages again. If that does not help, ` +
      "check whether the disk is full, or whether a virus scanner has changed the file.",
  );
}

function binaryOnPath(path: string, host: Platform): string | undefined {
  const unquoted = (directory: string) => (host.os === "win32" ? directory.replace(/^"(.*)"$/, "$1") : directory);
  return path
    .split(delimiter)
    .map(unquoted)
    .filter((directory) => directory !== "")
    .map((directory) => resolve(directory, programName(host)))
    .find(isProgram);
}

// A directory or a file that this user cannot read is passed over.
function isProgram(file: string): boolean {
  try {
    return isFile(file) && isExecutable(file) && !isOurScript(file);
  } catch {
    return false;
  }
}

// `npm run` puts node_modules/.bin on PATH, where `mayfly` is this package's own script. That script calls
// findBinary() and would run itself. Other package managers put a shell script there, which runs this package's script.
// On Windows, the scripts there are mayfly.cmd and mayfly.ps1, which are not looked for.
function isOurScript(file: string): boolean {
  const start = head(file);
  return start.subarray(0, 2).toString() === "#!" && start.includes("mayfly-dynamodb");
}

function checkPlatform(path: string, host: Platform, advice: string): void {
  const problem = platformProblem(head(path), host);
  if (problem) throw new ServerError("wrong-platform", `${path} ${problem}. ${advice}`);
}

function head(file: string): Buffer {
  const buffer = Buffer.alloc(headBytes);
  const descriptor = onceFreeSync(() => openSync(file, "r"));
  try {
    return buffer.subarray(0, readSync(descriptor, buffer, 0, headBytes, 0));
  } finally {
    closeSync(descriptor);
  }
}
