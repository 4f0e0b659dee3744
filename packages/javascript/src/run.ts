// The server of a test run, for test runners that start it in one process and run tests in other processes or threads. The
// owner maintains a file that contains the server's address and says how earlier servers ended. If the server dies, the
// owner starts a new one.

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { ServerError } from "./errors";
import { onceFreeSync, removeDirectory, temporaryDirectory } from "./files";
import type { Death } from "./http";
import { Server, type ServerOptions } from "./server";
import { pause } from "./timers";

interface RunServer {
  url: string;
  logFile: string;
  pid: number;
}

interface State {
  /** Undefined while a new server is starting after the last one died. */
  server?: RunServer;
  /** Why no new server could be started. */
  failed?: string;
  deaths: (Death & { url: string })[];
}

const restartsMax = 100;
const pollMs = 5;
const deathNoticeMs = 1_000; // how long it can take until the owner notices that its server died
const restartMsMax = 30_000;

/** What a test process needs in order to use the run's server. */
export interface ProvidedRun {
  url: string;
  /** The file of the server's log, if it is known. */
  logFile?: string;
  /** The file that the owner maintains; undefined for an existing server that the owner did not start. */
  stateFile?: string;
}

/** Owns the run's server. */
export class OwnedRun {
  readonly #options: ServerOptions;
  readonly #prepare: (server: Server) => Promise<void>;
  readonly #directory = temporaryDirectory("mayfly-run-");
  readonly #state: State = { deaths: [] };
  #server: Server;
  #closed = false;

  private constructor(options: ServerOptions, prepare: (server: Server) => Promise<void>, server: Server) {
    this.#options = options;
    this.#prepare = prepare;
    this.#server = server;
  }

  /** Calls and awaits `prepare` for each server before tests can use the server. */
  static async start(options: ServerOptions, prepare = async (_: Server) => {}): Promise<OwnedRun> {
    const server = await Server.start(options);
    try {
      await prepare(server);
      const run = new OwnedRun(options, prepare, server);
      run.#serve(server);
      return run;
    } catch (problem) {
      await server.close();
      throw problem;
    }
  }

  get server(): Server {
    return this.#server;
  }

  get provided(): ProvidedRun {
    const { url, log, pid } = this.#server;
    return {
      url,
      ...(log ? { logFile: log.path } : {}),
      ...(pid === undefined ? {} : { stateFile: this.#stateFile }),
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#server.close();
    await removeDirectory(this.#directory);
  }

  get #stateFile(): string {
    return join(this.#directory, "state.json");
  }

  #serve(server: Server): void {
    this.#server = server;
    if (server.pid === undefined) return;
    this.#state.server = { url: server.url, logFile: server.log!.path, pid: server.pid };
    this.#write();
    server.onDeath((death) => void this.#replace(server, death));
  }

  async #replace(dead: Server, death: Death): Promise<void> {
    if (this.#closed) return;
    delete this.#state.server;
    this.#state.deaths.push({ ...death, url: dead.url });
    this.#write();
    await dead.close();
    try {
      if (this.#state.deaths.length > restartsMax) {
        throw new ServerError("ended", `Mayfly's server died ${restartsMax + 1} times in this run. It will not be restarted.`);
      }
      // Ignore MAYFLY_URL, which may have the dead server's address by now.
      const server = await Server.start({ ...this.#options, url: "" });
      if (this.#closed) return await server.close();
      this.#server = server;
      await this.#prepare(server);
      this.#serve(server);
    } catch (problem) {
      this.#state.failed = (problem as Error).message;
      this.#write();
    }
  }

  // Replaces the file atomically, so that readers never see part of it.
  #write(): void {
    if (this.#closed) return;
    const next = `${this.#stateFile}.next`;
    writeFileSync(next, JSON.stringify(this.#state));
    onceFreeSync(() => renameSync(next, this.#stateFile)); // on Windows, fails while a worker reads the file
  }
}

/** The run's current server, for code that creates its own clients; undefined if the server is not known. */
export function currentServer(stateFile: string | undefined): RunServer | undefined {
  return stateFile === undefined ? undefined : read(stateFile)?.server;
}

/** The run's server as tests in another process, thread or sandbox use it. */
export class AttachedRun {
  readonly #provided: ProvidedRun;
  #url: string | undefined;
  #server: Promise<Server> | undefined;

  constructor(provided: ProvidedRun) {
    this.#provided = provided;
  }

  /** The server, or its replacement if it has died. Throws a ServerError if no server starts within 30 seconds. */
  async server(): Promise<Server> {
    const { stateFile } = this.#provided;
    if (stateFile === undefined) return (this.#server ??= Server.attach(this.#provided));
    for (let waited = 0; waited < restartMsMax; waited += pollMs) {
      const state = read(stateFile);
      if (!state) throw new ServerError("ended", "The run's server has been closed.");
      if (state.failed) throw new ServerError("ended", state.failed);
      const server = state.server && (await this.#attach(state.server, stateFile).catch(() => undefined));
      if (await server?.answers()) return server!;
      await pause(pollMs);
    }
    throw new ServerError("ended", `Mayfly's server died, and no new one started within ${restartMsMax / 1000} s.`);
  }

  async close(): Promise<void> {
    const server = this.#server;
    await (await server?.catch(() => undefined))?.close();
  }

  #attach(to: RunServer, stateFile: string): Promise<Server> {
    if (this.#url !== to.url || !this.#server) {
      void this.close();
      this.#url = to.url;
      this.#server = Server.attach({ url: to.url, logFile: to.logFile }, () => deathOf(to.url, stateFile));
      this.#server.catch(() => (this.#url = undefined));
    }
    return this.#server;
  }
}

async function deathOf(url: string, stateFile: string): Promise<Death | undefined> {
  for (let waited = 0; waited < deathNoticeMs; waited += pollMs) {
    const state = read(stateFile);
    if (!state) return undefined; // the run is over
    const death = state.deaths.find((each) => each.url === url);
    if (death) return death;
    await pause(pollMs);
  }
  return undefined;
}

function read(stateFile: string): State | undefined {
  try {
    // On Windows, fails while the owner replaces the file.
    return JSON.parse(onceFreeSync(() => readFileSync(stateFile, "utf8")));
  } catch (problem) {
    if ((problem as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw problem;
  }
}
