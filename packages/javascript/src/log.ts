// The server's log. It is a file, so that workers in other processes can read it when a test fails.

import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";

const shownBytesMax = 64 * 1024;

export class ServerLog {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** The current end of the log, for `since`; 0 if the file no longer exists. */
  get end(): number {
    return statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** The last lines of the log, at most `lines`, without those before the position `since`. */
  tail(lines = 40, since = 0): string {
    let descriptor: number;
    try {
      descriptor = openSync(this.path, "r");
    } catch {
      return "";
    }
    try {
      const end = fstatSync(descriptor).size;
      const from = Math.max(since, end - shownBytesMax);
      const buffer = Buffer.alloc(Math.max(0, end - from));
      const text = buffer.toString("utf8", 0, readSync(descriptor, buffer, 0, buffer.length, from));
      return text.trimEnd().split(/\r?\n/).slice(-lines).join("\n");
    } finally {
      closeSync(descriptor);
    }
  }
}

/** The text to print for a failed test: the server's log during the test, and items whose TTL is probably wrong. */
export function reportOfTest(log: string | undefined, suspects: string | undefined): string | undefined {
  const parts = [log ? `Mayfly's log:\n${log}` : undefined, suspects].filter(Boolean);
  return parts.length > 0 ? parts.join("\n") : undefined;
}

/** The end of an error message: the log's lines, or a note that the log is empty. */
export function withLog(log: string): string {
  return log === "" ? " Its log is empty." : ` Its log:\n${log.replace(/^/gm, "  ")}`;
}
