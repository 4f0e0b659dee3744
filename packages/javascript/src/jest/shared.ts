// The names and types that Jest's processes and sandboxes share.

/** The environment variables that tell workers where the server is. */
export const urlVariable = "MAYFLY_URL";
export const logVariable = "MAYFLY_SERVER_LOG";
export const stateVariable = "MAYFLY_SERVER_STATE";

/** The name under which the test environment puts a Scope on the sandbox's global object. */
export const scopeKey = "__mayfly_scope__";

/** Ends a world. See World.end(). */
export type End = (failed: boolean) => Promise<{ error?: Error; suspects?: string }>;

export interface Scope {
  /** Registers `end` to be called when the current test ends or, outside of a test, when the file's tests have ended. */
  atEnd(end: End): void;
  /** Registers `end` to be called when the file's tests have ended. */
  atFileEnd(end: End): void;
  /** Restores the real Date. The environment implements it, because the sandbox's `jest` is unusable between tests. */
  useRealTimers(): void;
}
