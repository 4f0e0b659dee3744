// The run's server, from globalSetup to globalTeardown, which Jest loads apart from each other.

import type { Server } from "../server";
import { logVariable, urlVariable } from "./shared";

const key = Symbol.for("mayfly-dynamodb.jest.run");

interface Run {
  server: Server;
  /** MAYFLY_URL as it was before. */
  givenUrl: string | undefined;
}

export function keep(server: Server, givenUrl: string | undefined): void {
  (globalThis as any)[key] = { server, givenUrl } satisfies Run;
}

export async function endRun(): Promise<void> {
  const run: Run | undefined = (globalThis as any)[key];
  delete (globalThis as any)[key];
  if (!run) return;
  delete process.env[logVariable];
  if (run.givenUrl === undefined) delete process.env[urlVariable];
  else process.env[urlVariable] = run.givenUrl;
  await run.server.close();
}
