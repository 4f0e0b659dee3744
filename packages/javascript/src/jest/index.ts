// For Jest's tests: a world for each. The server is the preset's: `preset: "mayfly-dynamodb"`.

import type { Follower } from "../follow";
import { Server } from "../server";
import type { World, WorldOptions } from "../world";
import { logVariable, scopeKey, urlVariable, type Scope } from "./shared";

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

let attached: Promise<Server> | undefined;

/** The run's server, which the preset started. */
export function runServer(): Promise<Server> {
  if (!process.env[urlVariable]) {
    throw new Error('There is no server: set preset: "mayfly-dynamodb" in the Jest configuration.');
  }
  return (attached ??= attach());
}

async function attach(): Promise<Server> {
  const server = await Server.start({ url: process.env[urlVariable], logFile: process.env[logVariable] });
  scope().atFileEnd(() => server.close());
  return server;
}

/**
 * A world that is closed when the test has ended; opened in beforeAll, when the file has. If the test fails, the
 * server's log is printed.
 */
export async function openWorld(options: JestWorldOptions = {}): Promise<World> {
  const { follow, ...rest } = options;
  const following = follow === true ? fakeDate : follow || undefined;
  const world = await (await runServer()).world({ ...rest, ...(following ? { follow: following } : {}) });
  scope().atEnd(() => world.close());
  return world;
}

// The environment's; in another than the preset's nobody says when a test has ended, and all waits for the file's end.
const scope = (): Scope => (globalThis as any)[scopeKey] ?? ofFile;
const closers: (() => Promise<void>)[] = [];
const ofFile: Scope = {
  atEnd: (close) => void closers.unshift(close),
  atFileEnd: (close) => void closers.unshift(close),
  useRealTimers: () => jest.useRealTimers(),
};
if (scope() === ofFile && typeof afterAll === "function") {
  afterAll(async () => {
    for (const close of closers.splice(0)) await close();
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
