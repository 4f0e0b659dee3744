// Vitest's globalSetup: `globalSetup: ["mayfly-dynamodb/vitest/setup"]`. One server for the run; tests learn where by
// inject("mayfly").

import { OwnedRun, type ProvidedRun } from "../run.js";
import type { ServerOptions } from "../server.js";

/** What tests get by `inject("mayfly")`. */
export interface ProvidedMayfly extends ProvidedRun {
  version: string;
}

declare module "vitest" {
  export interface ProvidedContext {
    mayfly: ProvidedMayfly;
  }
}

/** What this asks of Vitest's project. */
interface Project {
  provide(key: "mayfly", value: ProvidedMayfly): void;
}

/**
 * For a globalSetup file of your own, with other arguments of the server:
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
