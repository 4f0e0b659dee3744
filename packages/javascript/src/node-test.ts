// The entry point for node:test. Each test has its own world. Each test file has its own server, because node:test runs
// each file in a separate process.

import { after, type TestContext } from "node:test";

import type { Follower } from "./follow";
import { reportOfTest } from "./log";
import { Server, type ServerOptions } from "./server";
import type { World, WorldOptions } from "./world";

/** A world's options. `follow: true` makes the test's mocked Date (t.mock.timers) follow the world's clock. */
export interface NodeTestWorldOptions extends Omit<WorldOptions, "follow"> {
  follow?: WorldOptions["follow"] | boolean;
  /** Options of the file's server. Only those of the file's first world apply. */
  server?: ServerOptions;
}

let server: Promise<Server> | undefined;
let startOptions: ServerOptions | undefined;
after(async () => {
  const started = await server?.catch(() => undefined);
  await started?.close();
});

/** The file's server. It starts with the first call. If it has died, a new one is started. */
export async function fileServer(options?: ServerOptions): Promise<Server> {
  if (!server) server = Server.start((startOptions = options));
  const current = server;
  const started = await current;
  if (started.pid === undefined || (await started.answers())) return started;
  if (server === current) server = started.close().then(() => Server.start(startOptions));
  return server;
}

/**
 * Opens a world for a test. It is closed when the test ends. The test fails if a function of the world failed. If the test
 * fails, its diagnostics contain the server's log.
 */
export async function openWorld(t: TestContext, options: NodeTestWorldOptions = {}): Promise<World> {
  const { follow, server: serverOptions, ...rest } = options;
  const server = await fileServer(serverOptions);
  const since = server.log?.end ?? 0;
  const following = follow === true ? mockedDate(t) : follow || undefined;
  const world = await server.world({ ...rest, ...(following ? { follow: following } : {}) });
  t.after(async () => {
    const failed = Boolean((t as { error?: unknown }).error);
    const log = server.log?.tail(40, since);
    const { error, suspects } = await world.end(failed);
    const report = failed || error ? reportOfTest(log, suspects) : undefined;
    for (const line of report?.split("\n") ?? []) t.diagnostic(line);
    if (error) throw error;
  });
  return world;
}

// Mocks only Date, so that the SDK's timers keep running. A test's mocks end with the test.
function mockedDate(t: TestContext): Follower {
  const timers = t.mock.timers as unknown as {
    enable(options: { apis: string[]; now: number }): void;
    setTime?(now: number): void;
    reset(): void;
  };
  if (!timers?.setTime) {
    throw new Error(
      `follow: true needs Node 20.11 or later, which can mock Date; this is ${process.version}. ` +
        "Set follow to a function instead, which is called with the time.",
    );
  }
  let enabled = false;
  return {
    move(now) {
      if (!enabled) timers.enable({ apis: ["Date"], now: now.getTime() });
      else timers.setTime!(now.getTime());
      enabled = true;
    },
    stop() {
      if (enabled) timers.reset();
    },
  };
}
