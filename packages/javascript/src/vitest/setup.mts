// Vitest's globalSetup: `globalSetup: ["mayfly-dynamodb/vitest/setup"]`. One server for the run; tests learn where by
// inject("mayfly").

import { Server, type ServerOptions } from "../server.js";

/** What tests get by `inject("mayfly")`. */
export interface ProvidedMayfly {
  url: string;
  version: string;
  /** The file of the server's log, if it is known. */
  logFile?: string;
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
    const server = await Server.start(options);
    const { url, version, log } = server;
    project.provide("mayfly", { url, version, ...(log ? { logFile: log.path } : {}) });
    return () => server.close();
  };
}

export default globalSetup();
