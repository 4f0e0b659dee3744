// For Vitest: `test` with a world for each test. The server is the globalSetup's, mayfly-dynamodb/vitest/setup.

import { inject, test as base, vi } from "vitest";

import type { Clock } from "../clock.js";
import type { Follower } from "../follow.js";
import { logOfTest } from "../log.js";
import { Server } from "../server.js";
import type { World, WorldOptions } from "../world.js";
import type {} from "./setup.mjs";

/** As a world's options; `follow: true` moves Vitest's mocked Date (vi.setSystemTime). */
export interface VitestWorldOptions extends Omit<WorldOptions, "follow"> {
  follow?: WorldOptions["follow"] | boolean;
}

export interface MayflyFixtures {
  /** A world for the test, closed when that has ended; if it failed, the server's log is printed. */
  world: World;
  /** The world's clock. */
  clock: Clock;
  /** The world's document client. */
  documents: World["documents"];
  /** The world's client of DynamoDB. */
  dynamodb: World["dynamodb"];
}

let attached: Promise<Server> | undefined;

/** The run's server, which globalSetup started. */
export function runServer(): Promise<Server> {
  const provided = inject("mayfly");
  if (!provided) {
    throw new Error(
      'There is no server: add globalSetup: ["mayfly-dynamodb/vitest/setup"] to `test` of the Vitest configuration.',
    );
  }
  return (attached ??= Server.start({ url: provided.url, logFile: provided.logFile }));
}

/** A world beside the fixture's, for beforeAll, say; whoever opens it closes it. */
export async function openWorld(options: VitestWorldOptions = {}): Promise<World> {
  const { follow, ...rest } = options;
  const following = follow === true ? mockedDate : follow || undefined;
  return (await runServer()).world({ ...rest, ...(following ? { follow: following } : {}) });
}

/** Vitest's test, whose context has a world that begins so: `const test = testWith({ follow: true })`. */
export function testWith(options: VitestWorldOptions) {
  return base.extend<MayflyFixtures>({
    world: async ({ onTestFailed }, use) => {
      const { log } = await runServer();
      const since = log?.end ?? 0;
      onTestFailed(() => {
        const lines = logOfTest(log, since);
        if (lines) console.error(lines);
      });
      const world = await openWorld(options);
      try {
        await use(world);
      } finally {
        await world.close();
      }
    },
    clock: ({ world }, use) => use(world.clock),
    documents: ({ world }, use) => use(world.documents),
    dynamodb: ({ world }, use) => use(world.dynamodb),
  });
}

/** Vitest's test, whose context has a world. */
export const test = testWith({});

/** The same by its other name. */
export const it = test;

// Without vi.useFakeTimers() Date alone is mocked: the SDK's timers go on.
const mockedDate: Follower = {
  move(now) {
    vi.setSystemTime(now);
  },
  stop() {
    vi.useRealTimers();
  },
};
