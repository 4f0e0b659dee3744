// The entry point for Jest: a world for each test. The preset, `preset: "mayfly-dynamodb"`, starts the server.

import type { Follower } from "../follow";
import { AttachedRun } from "../run";
import type { Server } from "../server";
import type { World, WorldOptions } from "../world";
import { logVariable, scopeKey, stateVariable, urlVariable, type End, type Scope } from "./shared";

export type { JestDynamodbConfig } from "./config";

/** A world's options. `follow: true` makes Jest's fake Date (jest.setSystemTime) follow the world's clock. */
export interface JestWorldOptions extends Omit<WorldOptions, "follow"> {
  follow?: WorldOptions["follow"] | boolean;
}

// Jest provides these in every module of a test file.
declare const jest: {
  useFakeTimers(options: { now: number; doNotFake: string[] }): void;
  setSystemTime(now: number): void;
  useRealTimers(): void;
};
declare const afterAll: (hook: () => Promise<void>) => void;

let run: AttachedRun | undefined;

/** The run's server, which the preset started, or its replacement if it has died. */
export async function runServer(): Promise<Server> {
  const url = process.env[urlVariable];
  if (!url) throw new Error('No Mayfly server was started: set preset: "mayfly-dynamodb" in the Jest configuration.');
  if (!run) {
    const attached = new AttachedRun({ url, logFile: process.env[logVariable], stateFile: process.env[stateVariable] });
    run = attached;
    scope().atFileEnd(async () => {
      await attached.close();
      return {};
    });
  }
  return run.server();
}

/**
 * Opens a world. It is closed when the test ends or, if it was opened in beforeAll, when all tests of the file have
 * ended. The test fails if a function of the world failed. If the test fails, the server's log is printed.
 */
export async function openWorld(options: JestWorldOptions = {}): Promise<World> {
  const { follow, ...rest } = options;
  const following = follow === true ? fakeDate : follow || undefined;
  const world = await (await runServer()).world({ ...rest, ...(following ? { follow: following } : {}) });
  scope().atEnd((failed) => world.end(failed));
  return world;
}

// The environment's scope. An environment other than the preset's does not report the end of a test, so a world then stays
// open until all tests of the file have ended.
const scope = (): Scope => (globalThis as any)[scopeKey] ?? ofFile;
const ends: End[] = [];
const ofFile: Scope = {
  atEnd: (end) => void ends.unshift(end),
  atFileEnd: (end) => void ends.unshift(end),
  useRealTimers: () => jest.useRealTimers(),
};
if (scope() === ofFile && typeof afterAll === "function") {
  afterAll(async () => {
    let first: Error | undefined;
    for (const end of ends.splice(0)) first ??= (await end(false)).error;
    if (first) throw first;
  });
}

// Jest does not fake these APIs: only Date is faked, so that the SDK's timers keep running.
const timers = [
  "hrtime",
  "nextTick",
  "performance",
  "queueMicrotask",
  "requestAnimationFrame",
  "cancelAnimationFrame",
  "requestIdleCallback",
  "cancelIdleCallback",
  "setImmediate",
  "clearImmediate",
  "setInterval",
  "clearInterval",
  "setTimeout",
  "clearTimeout",
];
let faked = false;
const fakeDate: Follower = {
  move(now) {
    const ms = now.getTime();
    if (faked) jest.setSystemTime(ms);
    else jest.useFakeTimers({ now: ms, doNotFake: timers });
    faked = true;
  },
  stop() {
    if (faked) scope().useRealTimers();
    faked = false;
  },
};
