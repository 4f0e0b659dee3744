// A world: an account that nobody else has, with tables, streams and a clock of its own. Each test has one, so that
// tests share nothing, whichever of them run at once.

import type { CreateTableCommandInput, DynamoDBClient, TableDescription } from "@aws-sdk/client-dynamodb";
import type { DynamoDBStreamsClient } from "@aws-sdk/client-dynamodb-streams";
import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { randomInt } from "node:crypto";

import { Clients, sdk } from "./clients";
import { Clock } from "./clock";
import { Control } from "./control";
import type { StreamRecord } from "./errors";
import { followerOf, type Follow, type Follower } from "./follow";
import { LocalFunctions, registerFunction, type Handler, type LocalFunction, type StreamEvent } from "./functions";
import type { Connections } from "./http";
import { keyJson, type Key } from "./keys";
import { createTable, type TableOptions } from "./tables";
import { instantJson, type Instant } from "./times";
import { Ttl, type Explanation } from "./ttl";

export interface WorldOptions {
  /** Stop the clock at once: at this time, or where it is (`true`). */
  frozen?: Instant | true;
  /** Move the program's Date together with the world's clock, which is frozen then. */
  follow?: Follow;
  /** Tables to begin with, as CreateTable takes them: those of a jest-dynamodb-config.js, say. */
  tables?: CreateTableCommandInput[];
  /** Put `environment` into process.env until the world is closed, for code that makes its own clients. */
  environment?: boolean;
  region?: string;
  /** Twelve digits; without it, random ones. */
  account?: string;
}

/** One rule by which operations fail; see the page on the control API for all faults. */
export interface FaultRule {
  fault:
    | "throttle"
    | "internal_server_error"
    | "latency"
    | "unprocessed"
    | "transaction_conflict"
    | "stale_reads"
    | "replicated_write_conflict";
  operation?: string;
  table?: string;
  /** How often it strikes at most. */
  count?: number;
  probability?: number;
  seed?: number;
  /** Of `latency` and `stale_reads`. */
  milliseconds?: number;
  [more: string]: unknown;
}

export interface WaitOptions {
  event?: "INSERT" | "MODIFY" | "REMOVE";
  /** Who changes it: `service` is TTL. Without it, anybody. */
  by?: "user" | "service";
  /** Changes that the table's stream has from this time of the world's clock on count, too. */
  since?: Instant;
  /** In real seconds: 5. */
  timeoutSeconds?: number;
}

/** All of a world as it was: tables, items, pending expiries, streams, clock. */
export interface Snapshot {
  readonly id: string;
  /** Brings it back, as often as you like. */
  restore(): Promise<void>;
  delete(): Promise<void>;
}

/** A place where the expiry of one item stops, between "due" and "deleted". */
export interface Failpoint {
  table: string;
  key: Record<string, unknown>;
  state: "armed" | "waiting";
  due?: string;
}

const closeTimeoutMs = 2_000;

export class World {
  /** The server's. */
  readonly url: string;
  /** Twelve digits, which are the access key id, too. */
  readonly account: string;
  readonly region: string;
  readonly clock: Clock;
  readonly #control: Control;
  readonly #clients: Clients;
  readonly #functions: LocalFunctions;
  readonly #functionNames = new Set<string>();
  readonly #follower: Follower | undefined;
  #restoreEnvironment: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  private constructor(url: string, connections: Connections, options: WorldOptions) {
    this.url = url;
    this.account = options.account ?? randomAccount();
    this.region = options.region ?? "us-east-1";
    this.#follower = options.follow && followerOf(options.follow);
    this.#control = new Control(connections, this.account, this.region);
    this.clock = new Clock(this.#control, this.#follower);
    this.#clients = new Clients(url, this.account, this.region);
    this.#functions = new LocalFunctions(this.#control);
  }

  /** @internal `server.world()` opens it. */
  static async open(url: string, connections: Connections, options: WorldOptions): Promise<World> {
    const world = new World(url, connections, options);
    try {
      if (options.environment) world.#restoreEnvironment = putIntoEnvironment(world.environment);
      const { frozen } = options;
      if (frozen || options.follow) await world.clock.freeze(frozen === true ? undefined : frozen);
      for (const table of options.tables ?? []) {
        await world.dynamodb.send(new (sdk().CreateTableCommand)(table));
      }
      return world;
    } catch (problem) {
      await world.close();
      throw problem;
    }
  }

  /** AWS's client of DynamoDB. */
  get dynamodb(): DynamoDBClient {
    return this.#clients.dynamodb;
  }

  /** AWS's document client, which takes and gives plain objects. */
  get documents(): DynamoDBDocumentClient {
    return this.#clients.documents;
  }

  /** AWS's client of DynamoDB Streams. */
  get streams(): DynamoDBStreamsClient {
    return this.#clients.streams;
  }

  /** What a client's constructor takes to be one of this world. */
  get clientConfig() {
    return { ...this.#clients.config };
  }

  /** The variables by which other processes, and clients that code makes for itself, come into this world. */
  get environment(): Record<string, string> {
    return {
      AWS_ENDPOINT_URL_DYNAMODB: this.url,
      AWS_ENDPOINT_URL_DYNAMODB_STREAMS: this.url,
      AWS_ACCESS_KEY_ID: this.account,
      AWS_SECRET_ACCESS_KEY: "mayfly",
      AWS_REGION: this.region,
      AWS_DEFAULT_REGION: this.region,
      MAYFLY_URL: this.url,
      MAYFLY_ACCOUNT: this.account,
    };
  }

  /** Creates a table: `createTable("carts", { key: "id", ttl: "ttl", stream: true })`. */
  async createTable(name: string, options: TableOptions): Promise<TableDescription> {
    return createTable(this.dynamodb, name, options);
  }

  /** A table's time to live: its status and mode, what is upcoming, why an item is still there. */
  ttl(table: string): Ttl {
    return new Ttl(this.#control, table);
  }

  /** Why an item is still there, or is not. */
  async explain(table: string, key: Key): Promise<Explanation> {
    return this.ttl(table).explain(key);
  }

  /**
   * Waits until an item changes, and answers with the record. Changes count from the call on, or, with `since`, from
   * that time on. Throws a WaitTimeoutError, whose `records` are what did happen to the item.
   */
  async waitFor(table: string, key: Key, options: WaitOptions = {}): Promise<StreamRecord> {
    const { event, by, since, timeoutSeconds } = options;
    const { record } = await this.#control.call("POST", "/await", {
      table,
      key: keyJson(key),
      ...(event === undefined ? {} : { event }),
      ...(by === undefined ? {} : { by }),
      ...(since === undefined ? {} : { since: instantJson(since) }),
      ...(timeoutSeconds === undefined ? {} : { timeout_seconds: timeoutSeconds }),
    });
    return record;
  }

  /** Keeps all of the world as it is now. */
  async snapshot(): Promise<Snapshot> {
    const { id } = await this.#control.call("POST", "/snapshots", {});
    return {
      id,
      restore: () => this.restore(id),
      delete: async () => void (await this.#control.call("DELETE", `/snapshots/${encodeURIComponent(id)}`, {})),
    };
  }

  /** Brings back what a snapshot kept, the clock too. */
  async restore(snapshot: string | Snapshot): Promise<void> {
    const id = typeof snapshot === "string" ? snapshot : snapshot.id;
    await this.#control.call("POST", `/snapshots/${encodeURIComponent(id)}/restore`, {});
    await this.clock.catchUp();
  }

  /** Empties the world: no tables, streams, snapshots, mappings, faults; the clock as it began. */
  async reset(): Promise<void> {
    await this.#control.call("POST", "/reset", {});
    await this.clock.catchUp();
  }

  /** From now on operations fail by these rules, instead of those before; with `[]`, none does. */
  async faults(rules: FaultRule[]): Promise<void> {
    if (rules.length > 0) await this.#control.call("PUT", "/faults", { rules });
    else await this.#control.call("DELETE", "/faults", {});
  }

  /** Stops the expiry of an item between "due" and "deleted", until releaseFailpoints(). */
  async armFailpoint(table: string, key: Key): Promise<void> {
    await this.#control.call("PUT", "/failpoints", { table, key: keyJson(key) });
  }

  async failpoints(): Promise<Failpoint[]> {
    return (await this.#control.call("GET", "/failpoints")).failpoints;
  }

  /** Lets an item's expiry go on, or those of all items. */
  async releaseFailpoints(table?: string, key?: Key): Promise<void> {
    const which = table === undefined || key === undefined ? {} : { table, key: keyJson(key) };
    await this.#control.call("DELETE", "/failpoints", which);
  }

  /**
   * Makes a function of this process, or what answers at a URL, one of the world's Lambda functions, for event source
   * mappings and Invoke. `consume(table)` of a local function makes a mapping.
   */
  async function<Event = StreamEvent>(
    name: string,
    handler: Handler<Event>,
    options?: FunctionOptions,
  ): Promise<LocalFunction<Event>>;
  async function(name: string, url: string, options?: FunctionOptions): Promise<void>;
  async function(name: string, handler: Handler<any> | string, options: FunctionOptions = {}) {
    this.#functionNames.add(name);
    if (typeof handler === "function") return this.#functions.add(name, handler, options.timeoutSeconds);
    return registerFunction(this.#control, name, handler, options.timeoutSeconds);
  }

  /** Any other call of the control API: `control("POST", "/streams/carts/split", {})`; its answer. */
  async control(method: string, path: string, body?: unknown): Promise<any> {
    return this.#control.call(method, path, body ?? (method === "GET" ? undefined : {}));
  }

  /** Gives everything back: the server's memory, clients, local functions, the program's Date and environment. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    this.#follower?.stop();
    this.#restoreEnvironment?.();
    this.#clients.destroy();
    const calls = [...this.#functionNames].map((name) => ["DELETE", `/functions/${encodeURIComponent(name)}`]);
    // A server that has gone has given it back already.
    for (const [method, path] of [["POST", "/reset"], ...calls]) {
      await this.#control.call(method!, path!, {}, closeTimeoutMs).catch(() => undefined);
    }
    await this.#functions.close();
  }
}

export interface FunctionOptions {
  /** How long a call may take: 60. */
  timeoutSeconds?: number;
}

function randomAccount(): string {
  return String(randomInt(100_000, 1_000_000)) + String(randomInt(0, 1_000_000)).padStart(6, "0");
}

function putIntoEnvironment(variables: Record<string, string>): () => void {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}
