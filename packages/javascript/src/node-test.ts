// For node:test: a server for each test file, which node:test runs in a process of its own, and a world for each test.

import { after, type TestContext } from "node:test";

import type { Follower } from "./follow";
import { logOfTest } from "./log";
import { Server, type ServerOptions } from "./server";
import type { World, WorldOptions } from "./world";

/** As a world's options; `follow: true` moves the test's mocked Date (t.mock.timers). */
export interface NodeTestWorldOptions extends Omit<WorldOptions, "follow"> {
  follow?: WorldOptions["follow"] | boolean;
  /** How the file's server is started; what the first world says holds for all. */
  server?: ServerOptions;
}

let server: Promise<Server> | undefined;
after(async () => {
  const started = await server?.catch(() => undefined);
  await started?.close();
});

/** The file's server, started when it is first asked for. */
export function fileServer(options?: ServerOptions): Promise<Server> {
  return (server ??= Server.start(options));
}

/** A world for one test, closed when that has ended; if it failed, the server's log is among its diagnostics. */
export async function openWorld(t: TestContext, options: NodeTestWorldOptions = {}): Promise<World> {
  const { follow, server: serverOptions, ...rest } = options;
  const server = await fileServer(serverOptions);
  const since = server.log?.end ?? 0;
  const following = follow === true ? mockedDate(t) : follow || undefined;
  const world = await server.world({ ...rest, ...(following ? { follow: following } : {}) });
  t.after(async () => {
    await world.close();
    const log = (t as { error?: unknown }).error ? logOfTest(server.log, since) : undefined;
    if (log) t.diagnostic(log);
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
