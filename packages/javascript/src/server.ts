// A server for tests: a child process on a free port of the loopback interface, or an existing server.

import type { ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";

import { damageOf, findBinary } from "./binary";
import { endedEarly, howEnded } from "./ended";
import { ServerError } from "./errors";
import { removeDirectory, removeDirectoryAtExit, temporaryDirectory } from "./files";
import { Connections, type Autopsy, type Death } from "./http";
import { launch, withShortPath } from "./launch";
import { ServerLog, withLog } from "./log";
import { checkVersion } from "./version";
import { World, type WorldOptions } from "./world";

export interface ServerOptions {
  /** Use the server at this URL instead of starting one. Default: MAYFLY_URL, if that is set. */
  url?: string;
  /** The path of the program. Default: MAYFLY_BINARY, the platform's package, or `mayfly` on PATH. */
  binary?: string;
  /** Additional arguments of `mayfly serve`: `["--table-delay-ms", "50"]`. */
  args?: string[];
  /** The port. Default: 0, a free port. */
  port?: number;
  /** Time limit for the start, in milliseconds. Default: 10,000. */
  startTimeoutMs?: number;
  /** With `url`: the path of the server's log file, if it is known. */
  logFile?: string;
}

const startTimeoutMsDefault = 10_000;
const endTimeoutMs = 5_000;
const exitNoticeMs = 200; // how long it can take until this process learns that a server has ended
// The real timers, because a test may have replaced the global ones before it starts a server.
const { setTimeout, clearTimeout } = globalThis;

interface Started {
  child: ChildProcess;
  directory: string;
}

// Servers that this process has started and not ended. `endRunning` ends them when the process exits. If the process is
// killed, they end because of --exit-with-parent.
const running = new Set<Started>();

function endRunning(): void {
  for (const { child, directory } of running) {
    child.kill("SIGTERM");
    removeDirectoryAtExit(directory);
  }
}

/** A Mayfly server. `Server.start()` starts one, and `world()` opens worlds on it. */
export class Server {
  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  readonly url: string;
  /** The server's version. */
  readonly version: string;
  /** The server's log, if its file is known. */
  readonly log: ServerLog | undefined;
  /** The server's process id, if it was started here. */
  readonly pid: number | undefined;
  readonly #connections: Connections;
  readonly #started: Started | undefined;
  #closing = false;

  private constructor(url: string, version: string, connections: Connections, log?: ServerLog, started?: Started) {
    this.url = url;
    this.version = version;
    this.log = log;
    this.pid = started?.child.pid;
    this.#connections = connections;
    this.#started = started;
  }

  /**
   * Starts a server, or attaches to the existing one at `url` or MAYFLY_URL. When start() returns, the server answers
   * requests. Throws a ServerError whose message says what to do.
   */
  static async start(options: ServerOptions = {}): Promise<Server> {
    const url = options.url ?? process.env.MAYFLY_URL;
    return url ? Server.attach({ ...options, url }) : Server.#launch(options);
  }

  /** @internal Attaches to a server. `autopsy` returns how the server died. */
  static async attach(options: ServerOptions & { url: string }, autopsy?: Autopsy): Promise<Server> {
    const url = options.url.replace(/\/+$/, "");
    const connections = new Connections(url, autopsy);
    try {
      const version = await versionOf(connections, options.startTimeoutMs ?? startTimeoutMsDefault);
      checkVersion(version, `The server at ${url}`);
      return new Server(url, version, connections, options.logFile ? new ServerLog(options.logFile) : undefined);
    } catch (problem) {
      connections.close();
      if (problem instanceof ServerError) throw problem;
      throw new ServerError(
        "unreachable",
        `No Mayfly server answers at ${url} (${(problem as Error).message}). Start one there, or unset MAYFLY_URL to let ` +
          "the package start a server.",
      );
    }
  }

  static async #launch(options: ServerOptions): Promise<Server> {
    const binary = findBinary(options.binary);
    const directory = temporaryDirectory("mayfly-");
    const log = new ServerLog(join(directory, "server.log"));
    const child = await launchServer(binary, directory, log, options).catch(async (problem) => {
      await removeDirectory(directory);
      throw problem;
    });
    const started = { child, directory };
    if (running.size === 0) process.on("exit", endRunning);
    running.add(started);
    try {
      const url = await urlOf(child, binary, log, options);
      const connections = new Connections(url, () => deathOf(started, log));
      const version = await versionOf(connections, options.startTimeoutMs ?? startTimeoutMsDefault).catch((problem) => {
        connections.close();
        throw new ServerError("timed-out", `${url} did not answer: ${problem.message}.${withLog(log.tail())}`);
      });
      checkVersion(version, binary);
      // Neither the server nor its output keeps this process alive.
      child.unref();
      const stdout = child.stdout as Socket;
      stdout.resume();
      stdout.unref();
      return new Server(url, version, connections, log, started);
    } catch (problem) {
      await end(started);
      throw problem;
    }
  }

  /** Opens a world: a separate account, with its own tables, streams and clock. Throws a ServerError if the server died. */
  async world(options: WorldOptions = {}): Promise<World> {
    const died = this.#started && howEnded(this.#started.child);
    if (died) throw new ServerError("ended", `Mayfly's server ${died}. Start a new one.${withLog(this.log!.tail())}`);
    return World.open(this.url, this.#connections, options);
  }

  /** @internal Calls `call` when the server exits without close(). Requires: the server was started here. */
  onDeath(call: (death: Death) => void): void {
    const { child } = this.#started!;
    const tell = () => this.#closing || call({ how: howEnded(child)!, log: this.log!.tail() });
    if (howEnded(child)) tell();
    else child.once("exit", tell);
  }

  /** @internal Whether the server answers. */
  async answers(): Promise<boolean> {
    return versionOf(this.#connections, startTimeoutMsDefault).then(
      () => true,
      () => false,
    );
  }

  /**
   * Ends the server if it was started here: with SIGTERM, and with SIGKILL if it is still running after five
   * seconds. Windows has no SIGTERM; there, the server is killed, which loses no acknowledged write. An existing server
   * keeps running.
   */
  async close(): Promise<void> {
    this.#closing = true;
    this.#connections.close();
    if (this.#started) await end(this.#started);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

async function launchServer(
  binary: string,
  directory: string,
  log: ServerLog,
  options: ServerOptions,
): Promise<ChildProcess> {
  const logDescriptor = openSync(log.path, "a");
  try {
    return await launch(withShortPath(binary, directory), serveArguments(options), {
      stdio: ["ignore", "pipe", logDescriptor],
      // A separate process session, so that Ctrl-C reaches only the test runner, which then ends the server. On Windows, the
      // server has no console instead, and windowsHide prevents it from getting a window.
      detached: true,
      windowsHide: true,
    });
  } finally {
    closeSync(logDescriptor);
  }
}

function serveArguments(options: ServerOptions): string[] {
  const given = options.args ?? [];
  const unlessGiven = (name: string, ...value: string[]) =>
    given.some((each) => each === name || each.startsWith(`${name}=`)) ? [] : [name, ...value];
  return [
    "serve",
    ...unlessGiven("--port", String(options.port ?? 0)),
    ...unlessGiven("--exit-with-parent"),
    ...unlessGiven("--accounts-max", "1000000"),
    ...given,
  ];
}

// The server's URL, which is in the first line of its stdout.
function urlOf(child: ChildProcess, binary: string, log: ServerLog, options: ServerOptions): Promise<string> {
  const timeoutMs = options.startTimeoutMs ?? startTimeoutMsDefault;
  return new Promise((resolve, reject) => {
    const fail = (problem: ServerError) => {
      clearTimeout(timer);
      reject(problem);
    };
    const late = () => new ServerError("timed-out", `${binary} did not start within ${timeoutMs} ms.${withLog(log.tail())}`);
    const timer = setTimeout(() => fail(damageOf(binary) ?? late()), timeoutMs);
    let line = "";
    child.stdout!.on("data", (part: Buffer) => {
      line += part.toString();
      const url = /(https?:\/\/\S+)\r?\n/.exec(line)?.[1];
      if (!url) return;
      clearTimeout(timer);
      child.stdout!.removeAllListeners("data");
      child.off("close", closed);
      resolve(url);
    });
    // When "close" is emitted, the program's stdout has been read and its log is complete.
    const closed = () => fail(endedEarly(binary, child, log.tail()));
    child.on("close", closed);
  });
}

// The version that the health check reports.
async function versionOf(connections: Connections, timeoutMs: number): Promise<string> {
  const { body } = await connections.ask({ method: "GET", path: "/_mayfly/health", timeoutMs });
  if (typeof body?.version === "string") return body.version;
  throw new Error("the server there is not Mayfly");
}

async function end(started: Started): Promise<void> {
  const { child, directory } = started;
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    child.ref();
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), endTimeoutMs);
    await ended;
    clearTimeout(timer);
  }
  await removeDirectory(directory);
  running.delete(started);
  if (running.size === 0) process.off("exit", endRunning);
}

async function deathOf({ child }: Started, log: ServerLog): Promise<Death | undefined> {
  if (!howEnded(child)) {
    await Promise.race([
      new Promise((resolve) => child.once("exit", resolve)),
      new Promise((resolve) => setTimeout(resolve, exitNoticeMs)),
    ]);
  }
  const how = howEnded(child);
  return how === undefined ? undefined : { how, log: log.tail() };
}
