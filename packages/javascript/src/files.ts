// Temporary directories, and files that another program holds for a moment.
//
// On Windows, a virus scanner or an indexer opens a new file and holds it, usually for less than a second. Until then, the
// file cannot be run, replaced or removed.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { ServerError } from "./errors";
import { pause } from "./timers";

/** How long to wait for a file that another program holds. The defaults add up to two seconds. */
export interface Patience {
  platform?: string;
  triesMax?: number;
  pauseMs?: number;
}

const triesMaxDefault = 100;
const pauseMsDefault = 20;
const heldCodes = ["EBUSY", "EPERM", "EACCES", "ENOTEMPTY"];

/** Whether a failed file operation can succeed later. On other systems than Windows, these codes are permanent. */
export function isHeld(problem: unknown, platform: string = process.platform): boolean {
  return platform === "win32" && heldCodes.includes((problem as NodeJS.ErrnoException)?.code ?? "");
}

/** Calls `action`, and calls it again while another program holds its file. Throws the last error. */
export async function onceFree<T>(action: () => T | Promise<T>, patience: Patience = {}): Promise<T> {
  const { platform, triesMax = triesMaxDefault, pauseMs = pauseMsDefault } = patience;
  for (let tries = 1; ; ++tries) {
    try {
      return await action();
    } catch (problem) {
      if (!isHeld(problem, platform) || tries >= triesMax) throw problem;
    }
    await pause(pauseMs);
  }
}

/** The same as `onceFree` for callers that cannot await. It blocks the process. */
export function onceFreeSync<T>(action: () => T, patience: Patience = {}): T {
  const { platform, triesMax = triesMaxDefault, pauseMs = pauseMsDefault } = patience;
  for (let tries = 1; ; ++tries) {
    try {
      return action();
    } catch (problem) {
      if (!isHeld(problem, platform) || tries >= triesMax) throw problem;
    }
    sleep(pauseMs);
  }
}

function sleep(ms: number): void {
  // Sandboxes such as jsdom have no SharedArrayBuffer. There, the tries follow each other without a pause.
  if (typeof SharedArrayBuffer === "undefined") return;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Creates a directory in the system's directory for temporary files. */
export function temporaryDirectory(prefix: string): string {
  try {
    return mkdtempSync(join(tmpdir(), prefix));
  } catch (problem) {
    const variable = process.platform === "win32" ? "TEMP" : "TMPDIR";
    throw new ServerError(
      "no-directory",
      `Mayfly cannot create a directory in ${tmpdir()} (${(problem as Error).message}). Set ${variable} to an existing ` +
        "directory in which this process can create files.",
    );
  }
}

/** Removes a directory. If another program still holds a file in it, prints a warning instead of throwing an error. */
export async function removeDirectory(directory: string, patience: Patience = {}, remove = rm): Promise<void> {
  try {
    await onceFree(() => remove(directory), patience);
  } catch (problem) {
    process.emitWarning(
      `Mayfly cannot remove the temporary directory ${directory} (${(problem as Error).message}). Another program, such as ` +
        "a virus scanner, may hold a file in the directory. You can remove it later.",
    );
  }
}

/** Removes a directory while the process exits. */
export function removeDirectoryAtExit(directory: string): void {
  try {
    onceFreeSync(() => rm(directory));
  } catch {
    // Node prints no warnings while it exits. The files stay in the system's directory for temporary files.
  }
}

function rm(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}
