// The server's log: a file, so that workers in other processes can read it when a test fails.

import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";

const shownBytesMax = 64 * 1024;

export class ServerLog {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Where it ends now, for `since`; 0 if it is gone. */
  get end(): number {
    return statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Its last lines, of what was written from `since` on. */
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
      return text.trimEnd().split("\n").slice(-lines).join("\n");
    } finally {
      closeSync(descriptor);
    }
  }
}

/** What to print when a test has failed: the server's log during the test, and what its world says. */
export function reportOfTest(log: string | undefined, suspects: string | undefined): string | undefined {
  const parts = [log ? `Mayfly's log:\n${log}` : undefined, suspects].filter(Boolean);
  return parts.length > 0 ? parts.join("\n") : undefined;
}

/** For the end of a message: the log's lines, or that it is empty. */
export function withLog(log: string): string {
  return log === "" ? " Its log is empty." : ` Its log:\n${log.replace(/^/gm, "  ")}`;
}
