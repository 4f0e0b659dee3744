// For Jest: a world for each test. The preset starts the server: `preset: "mayfly-dynamodb"`.

import type { Follower } from "../follow";
import { AttachedRun } from "../run";
import type { Server } from "../server";
import type { World, WorldOptions } from "../world";
import { logVariable, scopeKey, stateVariable, urlVariable, type End, type Scope } from "./shared";

export type { JestDynamodbConfig } from "./config";

/** As a world's options; `follow: true` moves Jest's fake Date (jest.setSystemTime). */
export interface JestWorldOptions extends Omit<WorldOptions, "follow"> {
  follow?: WorldOptions["follow"] | boolean;
}

// Jest gives them to every module of a test file.
declare const jest: {
  useFakeTimers(options: { now: number; doNotFake: string[] }): void;
  setSystemTime(now: number): void;
  useRealTimers(): void;
};
declare const afterAll: (hook: () => Promise<void>) => void;

let run: AttachedRun | undefined;

/** The run's server, which the preset started. If it has died, the one that was started in its place. */
export async function runServer(): Promise<Server> {
  const url = process.env[urlVariable];
  if (!url) throw new Error('There is no server: set preset: "mayfly-dynamodb" in the Jest configuration.');
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
 * A world that is closed when the test has ended, or, if it was opened in beforeAll, when the file has. If a function of
 * the world failed, the test fails; if the test fails, the server's log is printed.
 */
export async function openWorld(options: JestWorldOptions = {}): Promise<World> {
  const { follow, ...rest } = options;
  const following = follow === true ? fakeDate : follow || undefined;
  const world = await (await runServer()).world({ ...rest, ...(following ? { follow: following } : {}) });
  scope().atEnd((failed) => world.end(failed));
  return world;
}

// The environment's. Another environment than the preset's does not say when a test has ended: worlds last until the
// file's end.
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

// Date alone: the SDK's timers go on.
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
