// Provides the program of a release: from the runner's tool cache, or from the release's archive.
//
// The archive must have a known SHA-256 before any of it is unpacked. The checksum comes from the first of these that has it:
//
// 1. the input sha256;
// 2. checksums.txt in this folder. A workflow that pins the action by commit pins these checksums as well;
// 3. the .sha256 file next to the archive. It detects a damaged download, but a person who can replace the archive can replace
//    this file too. It is needed because a tag cannot contain the checksums of archives that are built from the tag.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { fileIn } from "./archive.mjs";
import { lines, say } from "./runner.mjs";

const archiveBytesMax = 64 * 1024 * 1024;
const checksumBytesMax = 1024;
const downloadSecondsMax = 300;
const attemptsMax = 3;
const redirectsMax = 5;

// Windows on Arm runs x86-64 programs.
const platforms = {
  "Linux X64": "linux-x86_64",
  "Linux ARM64": "linux-arm64",
  "macOS X64": "macos-x86_64",
  "macOS ARM64": "macos-arm64",
  "Windows X64": "windows-x86_64",
  "Windows ARM64": "windows-x86_64",
};

/** The version of the checkout that contains the action. */
export function ownVersion() {
  const text = readFileSync(new URL("../../CMakeLists.txt", import.meta.url), "utf8");
  const version = /^project\(mayfly VERSION ([0-9.]+)/m.exec(text)?.[1];
  if (!version) throw new Error("The action's CMakeLists.txt names no version. Set the input 'version'.");
  return version;
}

/** Returns the path of the program of `version`. Downloads the archive below the URL `source`, unless the tool cache has it. */
export async function programOf(version, source, environment) {
  const wanted = archiveOf(version);
  // A message would show a password.
  if (!/^https?:\/\/[^@?#\s]+$/.test(source)) {
    throw new Error("The input 'download-url' must be an https:// URL without a user name, a password and a query.");
  }
  const known = fromInput(wanted.archive) ?? fromList(wanted.archive);
  const slots = cacheSlots(version);
  const cached = inCache(slots, wanted, known?.checksum, environment);
  if (cached) return cached;

  const url = `${source.replace(/\/+$/, "")}/v${version}/${wanted.archive}`;
  say(`downloads ${url}`);
  const { checksum, from } = known ?? (await fromRelease(url, wanted.archive));
  const bytes = (await download(url, archiveBytesMax)) ?? absent(url);
  const actual = createHash("sha256").update(bytes).digest("hex");
  if (actual !== checksum) {
    throw new Error(
      `${url} has the SHA-256 ${actual}, but ${from} requires ${checksum}. The archive was not unpacked. If the download is ` +
        "damaged, run the job again. Otherwise the archive was changed after its release.",
    );
  }
  say(`${wanted.archive} has the SHA-256 that ${from} requires`);

  const slot = store(slots, wanted.program, fileIn(bytes, wanted.member, wanted.isZip), checksum);
  const program = join(slot, wanted.program);
  const problem = problemWith(program, version, environment);
  if (!problem) return program;
  rmSync(`${slot}.complete`, { force: true });
  throw new Error(`The program in ${wanted.archive} does not work on this runner: ${problem}`);
}

// The archive for this runner, and the place of the program in it.
function archiveOf(version) {
  if (!/^\d{1,9}(\.\d{1,9}){1,3}$/.test(version)) {
    throw new Error(`The input 'version' must consist of digits and dots, such as 0.1.0, got '${version}'.`);
  }
  const { RUNNER_OS: system, RUNNER_ARCH: machine } = process.env;
  const platform = platforms[`${system} ${machine}`];
  if (!platform) {
    throw new Error(
      `Mayfly has no program for ${system} on ${machine}. Use a runner with Linux, macOS or Windows on X64 or ARM64, or set ` +
        "the input 'program' to a mayfly that you have built.",
    );
  }
  const folder = `mayfly-${version}-${platform}`;
  return system === "Windows"
    ? { version, archive: `${folder}.zip`, isZip: true, program: "mayfly.exe", member: `${folder}/mayfly.exe` }
    : { version, archive: `${folder}.tar.gz`, isZip: false, program: "mayfly", member: `${folder}/bin/mayfly` };
}

function fromInput(archive) {
  const given = lines("sha256");
  if (given.length === 0) return undefined;
  const found = given.map((line) => /^([0-9a-f]{64})(?:\s+\*?(\S+))?$/i.exec(line));
  if (found.includes(null)) {
    throw new Error(
      "The input 'sha256' must be 64 hexadecimal digits, or lines of them with the archive's name, as in .sha256 files.",
    );
  }
  const match = found.find(([, , name]) => name === undefined || name === archive);
  if (!match) throw new Error(`The input 'sha256' has no line for ${archive}.`);
  return { checksum: match[1].toLowerCase(), from: "the input 'sha256'" };
}

function fromList(archive) {
  const list = readFileSync(new URL("checksums.txt", import.meta.url), "utf8");
  const line = list.split("\n").find((each) => each.endsWith(`  ${archive}`));
  return line && { checksum: line.slice(0, 64), from: "the action's checksums.txt" };
}

async function fromRelease(url, archive) {
  const bytes = (await download(`${url}.sha256`, checksumBytesMax)) ?? absent(`${url}.sha256`);
  const [, checksum, name] = /^([0-9a-f]{64}) [ *](\S+)\s*$/.exec(bytes.toString("utf8")) ?? [];
  if (name !== archive) throw new Error(`${url}.sha256 does not contain the SHA-256 of ${archive}.`);
  return { checksum, from: "the release's .sha256 file" };
}

function absent(url) {
  throw new Error(
    `${url} does not exist. Either this version of Mayfly was not released, or it has no program for this platform. ` +
      "https://github.com/mayfly-dynamodb/mayfly/releases lists the versions.",
  );
}

// The directories in which the program can be, best one first. The first one has the layout that the tool cache of all
// setup actions has. The second one is for a read-only tool cache.
function cacheSlots(version) {
  const { RUNNER_TOOL_CACHE, RUNNER_TEMP, RUNNER_ARCH } = process.env;
  const roots = [RUNNER_TOOL_CACHE, RUNNER_TEMP].filter(Boolean);
  if (roots.length === 0) throw new Error("RUNNER_TOOL_CACHE and RUNNER_TEMP are not set. The runner sets these variables.");
  return roots.map((root) => join(root, "mayfly", version, RUNNER_ARCH.toLowerCase()));
}

// Returns the path of a working program in a slot; undefined if there is none.
function inCache(slots, wanted, checksum, environment) {
  for (const slot of slots.filter((each) => isComplete(each, checksum))) {
    const program = join(slot, wanted.program);
    const problem = problemWith(program, wanted.version, environment);
    if (!problem) {
      say(`uses ${program} from the tool cache`);
      return program;
    }
    say(`downloads Mayfly again, because the program in the tool cache is damaged: ${problem}`);
  }
  return undefined;
}

// Whether the slot has the program of an archive with this checksum, or of any archive if no checksum is known.
function isComplete(slot, checksum) {
  const record = join(slot, "archive.sha256");
  if (!existsSync(`${slot}.complete`) || !existsSync(record)) return false;
  return checksum === undefined || readFileSync(record, "utf8").trim() === checksum;
}

// Stores the program in the first slot that is writable. Returns the slot. Another job can do the same at the same time, so
// the slot appears complete, by a rename.
function store(slots, name, content, checksum) {
  let problem;
  for (const slot of slots) {
    try {
      mkdirSync(join(slot, ".."), { recursive: true });
      const next = mkdtempSync(`${slot}-`);
      try {
        writeFileSync(join(next, name), content);
        chmodSync(join(next, name), 0o755);
        chmodSync(next, 0o755);
        writeFileSync(join(next, "archive.sha256"), `${checksum}\n`);
        rmSync(`${slot}.complete`, { force: true });
        // A virus scanner on Windows can hold a new file open for a moment. maxRetries waits for it.
        rmSync(slot, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
        rename(next, slot);
        writeFileSync(`${slot}.complete`, "");
        return slot;
      } catch (failure) {
        rmSync(next, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
        throw failure;
      }
    } catch (failure) {
      problem = failure;
      say(`cannot use ${slot}: ${failure.message}`);
    }
  }
  throw new Error(`The program cannot be stored: ${problem.message}`);
}

function rename(from, to) {
  for (let attempt = 1; ; attempt++) {
    try {
      return renameSync(from, to);
    } catch (problem) {
      if (process.platform !== "win32" || attempt === 10) throw problem;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    }
  }
}

/** Why `program` is not a working mayfly of `version`; undefined if it is. */
export function problemWith(program, version, environment) {
  const run = spawnSync(program, ["--version"], { encoding: "utf8", env: environment, timeout: 30_000, windowsHide: true });
  if (run.error) return run.error.message;
  const said = run.stdout.trim();
  if (run.status !== 0) {
    return `${program} --version ended with ${run.signal ?? `status ${run.status}`}: ${run.stderr.trim().slice(0, 500)}`;
  }
  if (version ? said !== `mayfly ${version}` : !/^mayfly [0-9.]+$/.test(said)) {
    return `${program} --version prints '${said.slice(0, 200)}'`;
  }
  return undefined;
}

// Downloads a file of at most `bytesMax` bytes. Returns undefined if it does not exist. Repeats a download that failed.
async function download(url, bytesMax) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await get(url, bytesMax);
    } catch (problem) {
      const why = problem.cause?.message || problem.cause?.code || problem.message;
      if (problem.isFinal || attempt === attemptsMax) throw new Error(`${url} cannot be downloaded: ${why}`);
      say(`tries again to download ${url}: ${why}`);
      await pause(attempt * 1000);
    }
  }
}

async function get(url, bytesMax) {
  const signal = AbortSignal.timeout(downloadSecondsMax * 1000);
  let at = checked(url);
  for (let redirects = 0; ; redirects++) {
    const response = await fetch(at, { redirect: "manual", signal, headers: { "User-Agent": "mayfly-action" } });
    const next = response.headers.get("location");
    if (response.status >= 300 && response.status < 400 && next) {
      await response.body?.cancel();
      if (redirects === redirectsMax) throw final(`it is redirected more than ${redirectsMax} times`);
      at = checked(new URL(next, at), at);
      continue;
    }
    if (response.status !== 200) {
      await response.body?.cancel();
      if (response.status === 404) return undefined;
      const problem = `the server answered with status ${response.status}`;
      throw response.status >= 500 || response.status === 429 ? new Error(problem) : final(problem);
    }
    const parts = [];
    let size = 0;
    for await (const part of response.body) {
      size += part.length;
      if (size > bytesMax) throw final(`it has more than ${bytesMax} bytes`);
      parts.push(part);
    }
    return Buffer.concat(parts);
  }
}

const final = (message) => Object.assign(new Error(message), { isFinal: true });
const isLoopback = ({ hostname }) => /^(127\.0\.0\.1|localhost|\[::1\])$/.test(hostname);

// Returns the URL to which `from` leads. Throws if a person on the network could change what it returns. An https:// URL never
// leads to an http:// URL, not even to one on this machine. Messages omit most of the URL, which can contain a token.
function checked(url, from = url) {
  const [target, origin] = [new URL(url), new URL(from)];
  if (target.protocol === "https:") return target;
  if (target.protocol === "http:" && isLoopback(target) && origin.protocol === "http:") return target;
  throw final(`it leads to ${target.protocol}//${target.host}, which is neither https:// nor http:// on this machine`);
}
