// The entry point for Vitest: `test` with a world for each test. The globalSetup, mayfly-dynamodb/vitest/setup, starts the
// server.

import { inject, test as base, vi } from "vitest";

import type { Clock } from "../clock.js";
import type { Follower } from "../follow.js";
import { reportOfTest } from "../log.js";
import { AttachedRun } from "../run.js";
import type { Server } from "../server.js";
import type { World, WorldOptions } from "../world.js";
import type {} from "./setup.mjs";

/** A world's options. `follow: true` makes Vitest's mocked Date (vi.setSystemTime) follow the world's clock. */
export interface VitestWorldOptions extends Omit<WorldOptions, "follow"> {
  follow?: WorldOptions["follow"] | boolean;
}

export interface MayflyFixtures {
  /**
   * The test's world. It is closed when the test ends. The test fails if a function of the world failed. If the test fails,
   * the server's log is printed.
   */
  world: World;
  /** The world's clock. */
  clock: Clock;
  /** The world's document client. */
  documents: World["documents"];
  /** The world's client for DynamoDB. */
  dynamodb: World["dynamodb"];
}

let run: AttachedRun | undefined;

/** The run's server, which globalSetup started, or its replacement if it has died. */
export async function runServer(): Promise<Server> {
  const provided = inject("mayfly");
  if (!provided) {
    throw new Error(
      'No Mayfly server was started: add globalSetup: ["mayfly-dynamodb/vitest/setup"] to `test` in the Vitest ' +
        "configuration.",
    );
  }
  return (run ??= new AttachedRun(provided)).server();
}

/** Opens another world, for example in beforeAll. The caller must close it. */
export async function openWorld(options: VitestWorldOptions = {}): Promise<World> {
  const { follow, ...rest } = options;
  const following = follow === true ? mockedDate : follow || undefined;
  return (await runServer()).world({ ...rest, ...(following ? { follow: following } : {}) });
}

/** Vitest's `test`, whose context contains a world with these options: `const test = testWith({ follow: true })`. */
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

/** Vitest's `test`, whose context contains a world. */
export const test = testWith({});

/** An alias of `test`. */
export const it = test;

// Without vi.useFakeTimers(), only Date is mocked, so the SDK's timers keep running.
const mockedDate: Follower = {
  move(now) {
    vi.setSystemTime(now);
  },
  stop() {
    vi.useRealTimers();
  },
};
