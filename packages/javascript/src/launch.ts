// Runs the program. Every error is a ServerError that names the program's file and says what to do.

import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync } from "node:fs";
import { join, toNamespacedPath } from "node:path";

import { damageOf } from "./binary";
import { ServerError } from "./errors";
import { isHeld, onceFree, onceFreeSync, type Patience } from "./files";

const windowsPathMax = 260;

/**
 * A program to run instead of `binary`: a copy in `directory` if the path is too long for Windows to run the program,
 * otherwise `binary` itself.
 */
export function withShortPath(binary: string, directory: string, platform: string = process.platform): string {
  if (platform !== "win32" || binary.length < windowsPathMax) return binary;
  const copy = join(directory, "mayfly.exe");
  onceFreeSync(() => copyFileSync(binary, copy));
  return copy;
}

/** Starts the program. On Windows, waits at most two seconds while another program, such as a virus scanner, holds its file. */
export async function launch(
  binary: string,
  programArguments: string[],
  options: SpawnOptions,
  patience: Patience = {},
  start: typeof spawn = spawn,
): Promise<ChildProcess> {
  // Some versions of Windows run a file with a longer path if the path is in the form \\?\C:\….
  const file = process.platform === "win32" && binary.length >= windowsPathMax ? toNamespacedPath(binary) : binary;
  try {
    return await onceFree(async () => {
      const child = start(file, programArguments, options);
      // For some reasons, spawn throws an error; for others, the child has no pid and emits the error.
      if (child.pid === undefined) throw (await once(child, "error"))[0];
      child.on("error", () => {}); // a later error is that of kill() for a process that is just ending
      return child;
    }, patience);
  } catch (problem) {
    throw cannotRun(binary, problem as NodeJS.ErrnoException, patience.platform ?? process.platform);
  }
}

function cannotRun(binary: string, problem: NodeJS.ErrnoException, platform: string): ServerError {
  if (isHeld(problem, platform)) {
    return new ServerError(
      "locked",
      `${binary} cannot be run (${problem.message}): another program holds the file, or Windows denies access to it. Wait ` +
        "until your virus scanner has checked the file, or exclude the file's directory from its checks.",
    );
  }
  const damage = damageOf(binary);
  if (damage) return damage;
  return new ServerError("ended", `${binary} cannot be run: ${problem.message}.${advice(binary, problem.code, platform)}`);
}

function advice(binary: string, code: string | undefined, platform: string): string {
  if (platform === "win32" && binary.length >= windowsPathMax) {
    return (
      ` Its path has ${binary.length} characters, and Windows may not run a program whose path has ${windowsPathMax} or more. ` +
      "Set MAYFLY_BINARY to a copy in a directory with a shorter path."
    );
  }
  // The kernel also reports ENOENT if it does not find the program's loader.
  if (code === "ENOENT" && platform === "linux" && existsSync(binary)) {
    return " The file exists, but its loader or interpreter does not. A program that was built for glibc does not run on Alpine.";
  }
  if (code === "EACCES") return " Its file system may be mounted with noexec.";
  if (platform === "win32" && (code === "UNKNOWN" || code === "EFTYPE")) {
    return " The file may be damaged, or a virus scanner may have blocked it.";
  }
  return "";
}
