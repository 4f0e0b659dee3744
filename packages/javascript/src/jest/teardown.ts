// The Jest globalTeardown. It ends the run's server.

import { endRun } from "./run";

/** Called by Jest after the last test file. */
export default async function globalTeardown(): Promise<void> {
  await endRun();
}
