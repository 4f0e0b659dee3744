// The Vitest globalSetup: `globalSetup: ["mayfly-dynamodb/vitest/setup"]`. It starts one server for the run. Tests get its
// address from inject("mayfly").

import { OwnedRun, type ProvidedRun } from "../run.js";
import type { ServerOptions } from "../server.js";

/** The value of `inject("mayfly")`. */
export interface ProvidedMayfly extends ProvidedRun {
  version: string;
}

declare module "vitest" {
  export interface ProvidedContext {
    mayfly: ProvidedMayfly;
  }
}

/** The part of Vitest's project that is used here. */
interface Project {
  provide(key: "mayfly", value: ProvidedMayfly): void;
}

/**
 * Creates a globalSetup with server options, for your own setup file:
 * `export default globalSetup({ args: ["--table-delay-ms", "50"] })`.
 */
export function globalSetup(options: ServerOptions = {}) {
  return async (project: Project): Promise<() => Promise<void>> => {
    const run = await OwnedRun.start(options);
    project.provide("mayfly", { ...run.provided, version: run.server.version });
    return () => run.close();
  };
}

export default globalSetup();
