// Passes the run's server from globalSetup to globalTeardown, which Jest loads as separate modules.

import type { OwnedRun } from "../run";
import { logVariable, stateVariable, urlVariable } from "./shared";

const key = Symbol.for("mayfly-dynamodb.jest.run");

interface Kept {
  run: OwnedRun;
  /** The value of MAYFLY_URL before the run. */
  givenUrl: string | undefined;
}

export function keep(run: OwnedRun, givenUrl: string | undefined): void {
  (globalThis as any)[key] = { run, givenUrl } satisfies Kept;
}

export async function endRun(): Promise<void> {
  const kept: Kept | undefined = (globalThis as any)[key];
  delete (globalThis as any)[key];
  if (!kept) return;
  delete process.env[logVariable];
  delete process.env[stateVariable];
  if (kept.givenUrl === undefined) delete process.env[urlVariable];
  else process.env[urlVariable] = kept.givenUrl;
  await kept.run.close();
}
