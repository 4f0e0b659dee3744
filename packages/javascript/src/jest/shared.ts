// What Jest's processes and sandboxes share.

/** The environment variables that tell workers where the server is. */
export const urlVariable = "MAYFLY_URL";
export const logVariable = "MAYFLY_SERVER_LOG";
export const stateVariable = "MAYFLY_SERVER_STATE";

/** The name under which the test environment puts a Scope on the sandbox's global object. */
export const scopeKey = "__mayfly_scope__";

/** Ends a world, as World.end() does. */
export type End = (failed: boolean) => Promise<{ error?: Error; suspects?: string }>;

export interface Scope {
  /** Calls it when the current test has ended; outside of a test, when the file has. */
  atEnd(end: End): void;
  /** Calls it when the file has ended. */
  atFileEnd(end: End): void;
  /** Restores the real Date. Between tests the sandbox's `jest` must not be called. */
  useRealTimers(): void;
}
