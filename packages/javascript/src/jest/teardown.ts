// Jest's globalTeardown: ends the run's server.

import { endRun } from "./run";

/** Jest calls it after the last test file. */
export default async function globalTeardown(): Promise<void> {
  await endRun();
}
