// For node:test, which runs each test file in a process of its own: a server for each file, and a world for each test.

import { after, type TestContext } from "node:test";

import type { Follower } from "./follow";
import { reportOfTest } from "./log";
import { Server, type ServerOptions } from "./server";
import type { World, WorldOptions } from "./world";

/** As a world's options; `follow: true` moves the test's mocked Date (t.mock.timers). */
export interface NodeTestWorldOptions extends Omit<WorldOptions, "follow"> {
  follow?: WorldOptions["follow"] | boolean;
  /** How the file's server is started. Only the first world's options count. */
  server?: ServerOptions;
}

let server: Promise<Server> | undefined;
let startOptions: ServerOptions | undefined;
after(async () => {
  const started = await server?.catch(() => undefined);
  await started?.close();
});

/** The file's server, started when it is first needed. If it has died, another one is started. */
export async function fileServer(options?: ServerOptions): Promise<Server> {
  if (!server) server = Server.start((startOptions = options));
  const current = server;
  const started = await current;
  if (started.pid === undefined || (await started.answers())) return started;
  if (server === current) server = started.close().then(() => Server.start(startOptions));
  return server;
}

/**
 * A world for one test, closed when the test has ended. If a function of the world failed, the test fails; if the test
 * fails, the server's log is among its diagnostics.
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

// Date alone: the SDK's timers go on. The test's own mocks end with the test.
function mockedDate(t: TestContext): Follower {
  const timers = t.mock.timers as unknown as {
    enable(options: { apis: string[]; now: number }): void;
    setTime?(now: number): void;
    reset(): void;
  };
  if (!timers?.setTime) {
    throw new Error(
      `follow: true needs Node 20.11 or later, which can mock Date; this is ${process.version}. ` +
        "Give a function as follow, which is told the time.",
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
