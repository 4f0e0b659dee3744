// What the three of Jest's processes and sandboxes tell each other.

/** The environment variables by which workers learn of the server. */
export const urlVariable = "MAYFLY_URL";
export const logVariable = "MAYFLY_SERVER_LOG";

/** What the test environment puts on the sandbox's global object: who closes what when a test ends. */
export const scopeKey = "__mayfly_scope__";

export interface Scope {
  /** Calls it when the test that runs now has ended; outside of one, when the file has. */
  atEnd(close: () => Promise<void>): void;
  /** Calls it when the file has ended. */
  atFileEnd(close: () => Promise<void>): void;
  /** Gives the real Date back; between tests the sandbox's `jest` may not be asked. */
  useRealTimers(): void;
}
