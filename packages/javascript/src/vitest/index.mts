// For Vitest: `test` with a world for each test. The server is the globalSetup's, mayfly-dynamodb/vitest/setup.

import { inject, test as base, vi } from "vitest";

import type { Clock } from "../clock.js";
import type { Follower } from "../follow.js";
import { reportOfTest } from "../log.js";
import { AttachedRun } from "../run.js";
import type { Server } from "../server.js";
import type { World, WorldOptions } from "../world.js";
import type {} from "./setup.mjs";

/** As a world's options; `follow: true` moves Vitest's mocked Date (vi.setSystemTime). */
export interface VitestWorldOptions extends Omit<WorldOptions, "follow"> {
  follow?: WorldOptions["follow"] | boolean;
}

export interface MayflyFixtures {
  /**
   * A world for the test, closed when the test has ended. If a function of the world failed, the test fails; if the test
   * fails, the server's log is printed.
   */
  world: World;
  /** The world's clock. */
  clock: Clock;
  /** The world's document client. */
  documents: World["documents"];
  /** The world's client of DynamoDB. */
  dynamodb: World["dynamodb"];
}

let run: AttachedRun | undefined;

/** The run's server, which globalSetup started. If it has died, the one that was started in its place. */
export async function runServer(): Promise<Server> {
  const provided = inject("mayfly");
  if (!provided) {
    throw new Error(
      'There is no server: add globalSetup: ["mayfly-dynamodb/vitest/setup"] to `test` of the Vitest configuration.',
    );
  }
  return (run ??= new AttachedRun(provided)).server();
}

/** Another world, for beforeAll for example. Close it yourself. */
export async function openWorld(options: VitestWorldOptions = {}): Promise<World> {
  const { follow, ...rest } = options;
  const following = follow === true ? mockedDate : follow || undefined;
  return (await runServer()).world({ ...rest, ...(following ? { follow: following } : {}) });
}

/** Vitest's test, whose context has a world that begins so: `const test = testWith({ follow: true })`. */
export function testWith(options: VitestWorldOptions) {
  return base.extend<MayflyFixtures>({
    world: async ({ task }, use) => {
      const { log: serverLog } = await runServer();
      const since = serverLog?.end ?? 0;
      const world = await openWorld(options);
      await use(world);
      const failed = task.result?.state === "fail";
      const log = serverLog?.tail(40, since);
      const { error, suspects } = await world.end(failed);
      const report = failed || error ? reportOfTest(log, suspects) : undefined;
      if (report) console.error(report);
      if (error) throw error;
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
