// A world: a separate account with its own tables, streams and clock. Each test has its own world, so concurrent tests
// share no data.

import { randomInt } from "node:crypto";

import type {
  CreateTableCommandInput,
  DynamoDBClient,
  DynamoDBClientConfig,
  DynamoDBDocumentClient,
  DynamoDBStreamsClient,
  TableDescription,
} from "./aws";
import { Clients, sdk } from "./clients";
import { Clock, type Settled } from "./clock";
import { Control } from "./control";
import { WaitTimeoutError, type EventName, type StreamRecord } from "./errors";
import { HandlerFailures, type HandlerError, type HandlerFailure } from "./failures";
import { followerOf, type Follow, type Follower } from "./follow";
import { LocalFunctions, registerFunction, type Handler, type LocalFunction, type StreamEvent } from "./functions";
import type { Connections } from "./http";
import { keyJson, type Key } from "./keys";
import { refuseUnknown } from "./options";
import { createTable, type TableOptions } from "./tables";
import { within } from "./timers";
import { instantJson, type Instant } from "./times";
import { Ttl, type Explanation, type TtlSuspect } from "./ttl";

export interface WorldOptions {
  /** Freeze the clock, at this time or, if `true`, at its current time. Default: the clock shows the host's time. */
  frozen?: Instant | true;
  /** Make the program's Date follow the world's clock. This option also freezes the clock. */
  follow?: Follow;
  /** Tables to create, as parameters of CreateTable, for example those of a jest-dynamodb-config.js. */
  tables?: CreateTableCommandInput[];
  /**
   * Set the world's environment variables in process.env until the world is closed, for code that creates its own
   * clients.
   */
  environment?: boolean;
  /** The region for which clients sign. Default: `"us-east-1"`. */
  region?: string;
  /** The account, twelve digits. Default: a random, unused one. */
  account?: string;
}

/** What a fault rule does to the operations that it matches. */
export type FaultKind =
  | "throttle"
  | "internal_server_error"
  | "latency"
  | "connection_closed"
  | "unprocessed"
  | "transaction_conflict"
  | "stale_reads"
  | "replicated_write_conflict";

/** A rule that makes operations fail. docs/control.md describes each fault. */
export interface FaultRule {
  fault: FaultKind;
  /** Only this operation: `"PutItem"`. */
  operation?: string;
  /** Only operations on this table. */
  table?: string;
  /** How many operations fail. Default: all matching ones. */
  count?: number;
  /** The probability that a matching operation fails, from 0 to 1. Default: 1. */
  probability?: number;
  /** The seed of random choices. The same seed gives the same choices. */
  seed?: number;
  /** For `throttle`: the exception. Default: the exception that AWS would return. */
  exception?: "ProvisionedThroughputExceededException" | "ThrottlingException" | "RequestLimitExceeded";
  /**
   * For `internal_server_error` and `connection_closed`: whether the operation takes effect although the client gets an
   * error. Default: false. For `latency`: whether a write takes effect before the delay rather than after it. Default:
   * true.
   */
  applied?: boolean;
  /** For `latency`: the delay, in real time. For `stale_reads`: the maximum lag, on the world's clock. */
  milliseconds?: number;
  /** For `unprocessed`: how many items of a batch stay unprocessed. */
  items?: number;
  /** For `stale_reads`: how many commits a read can lag behind. */
  writes?: number;
}

export interface WaitOptions {
  /** The kind of change. Default: any. */
  event?: EventName;
  /** The author of the change: a client, or the service (TTL). Default: either. */
  by?: "user" | "service";
  /** Also accept earlier changes, from this time on, by the world's clock. Default: only changes after the call. */
  since?: Instant;
  /** The time limit, in real seconds. Default: 5. */
  timeoutSeconds?: number;
}

/** A saved state of a world: tables, items, pending expiries, streams and clock. */
export interface Snapshot {
  readonly id: string;
  /** Restores this state of the world. A snapshot can be restored any number of times. */
  restore(): Promise<void>;
  /** Deletes this snapshot and frees its memory. */
  delete(): Promise<void>;
}

/** Stops the expiry of one item just before the item is deleted. */
export interface Failpoint {
  table: string;
  key: Record<string, unknown>;
  state: "armed" | "waiting";
  due?: string;
}

const closeTimeoutMs = 2_000;
const deliveryTimeoutMs = 2_000; // how long the end of a test waits for functions to process the remaining records

/** A separate account with its own tables, streams and clock. Calls throw a MayflyError if the server refuses them. */
export class World {
  /** The server's URL. */
  readonly url: string;
  /** The account, twelve digits. A client with this access key id uses this world. */
  readonly account: string;
  readonly region: string;
  readonly clock: Clock;
  readonly #control: Control;
  readonly #clients: Clients;
  readonly #functions: LocalFunctions;
  readonly #functionNames = new Set<string>();
  readonly #failures = new HandlerFailures();
  readonly #follower: Follower | undefined;
  #restoreEnvironment: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  private constructor(url: string, connections: Connections, options: WorldOptions) {
    this.url = url;
    this.account = options.account ?? randomAccount();
    this.region = options.region ?? "us-east-1";
    this.#follower = options.follow && followerOf(options.follow);
    this.#control = new Control(connections, this.account, this.region);
    this.clock = new Clock(this.#control, (settled) => this.#raise(settled), this.#follower);
    this.#clients = new Clients(url, connections, this.account, this.region);
    this.#functions = new LocalFunctions(this.#control, this.#failures);
  }

  /** @internal Called by `server.world()`. */
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

  /** The AWS SDK client for DynamoDB. */
  get dynamodb(): DynamoDBClient {
    return this.#clients.dynamodb;
  }

  /** The AWS SDK document client, which accepts and returns plain objects. */
  get documents(): DynamoDBDocumentClient {
    return this.#clients.documents;
  }

  /** The AWS SDK client for DynamoDB Streams. */
  get streams(): DynamoDBStreamsClient {
    return this.#clients.streams;
  }

  /** The configuration with which any AWS SDK client uses this world. */
  get clientConfig(): DynamoDBClientConfig {
    return { ...this.#clients.config };
  }

  /** The environment variables with which another process, or a client that other code creates, uses this world. */
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

  /**
   * Creates a table: `createTable("carts", { key: "customer", sort: { name: "at", type: "N" }, ttl: "ttl" })`. The table
   * has a stream unless `stream` is false. Returns the table's description. Throws a TypeError for invalid options before
   * it sends a request.
   */
  async createTable(name: string, options: TableOptions = {}): Promise<TableDescription> {
    return createTable(this.dynamodb, name, options);
  }

  /** A table's time to live: its status and mode, the next expiries, and explanations. */
  ttl(table: string): Ttl {
    return new Ttl(this.#control, table);
  }

  /** Explains why an item still exists, or why it does not. */
  async explain(table: string, key: Key): Promise<Explanation> {
    return this.ttl(table).explain(key);
  }

  /**
   * Waits until an item changes, and returns the record. Without `since`, only changes after the call are considered;
   * with `since`, earlier changes from that time on are also considered. If no such change happens in time, throws a
   * WaitTimeoutError whose `records` are the item's other changes.
   */
  async waitFor(table: string, key: Key, options: WaitOptions = {}): Promise<StreamRecord> {
    refuseUnknown(`waitFor("${table}")`, options, ["event", "by", "since", "timeoutSeconds"]);
    const { event, by, since, timeoutSeconds } = options;
    const body = {
      table,
      key: keyJson(key),
      ...(event === undefined ? {} : { event }),
      ...(by === undefined ? {} : { by }),
      ...(since === undefined ? {} : { since: instantJson(since) }),
      ...(timeoutSeconds === undefined ? {} : { timeout_seconds: timeoutSeconds }),
    };
    try {
      return (await this.#control.call("POST", "/await", body)).record;
    } catch (problem) {
      if (since !== undefined || !(problem instanceof WaitTimeoutError)) throw problem;
      const hint = "Only changes after the call count; to accept earlier ones, set since.";
      throw new WaitTimeoutError(`${problem.message} ${hint}`, problem.records);
    }
  }

  /** Takes a snapshot of the whole world. */
  async snapshot(): Promise<Snapshot> {
    const { id } = await this.#control.call("POST", "/snapshots", {});
    return {
      id,
      restore: () => this.restore(id),
      delete: async () => void (await this.#control.call("DELETE", `/snapshots/${encodeURIComponent(id)}`, {})),
    };
  }

  /** Restores a snapshot, including the clock. */
  async restore(snapshot: string | Snapshot): Promise<void> {
    const id = typeof snapshot === "string" ? snapshot : snapshot.id;
    await this.#control.call("POST", `/snapshots/${encodeURIComponent(id)}/restore`, {});
    await this.clock.catchUp();
  }

  /**
   * Deletes all tables, streams, snapshots, event source mappings and faults, and resets the clock. Registered functions
   * remain.
   */
  async reset(): Promise<void> {
    await this.#control.call("POST", "/reset", {});
    await this.clock.catchUp();
  }

  /** Replaces all fault rules; `[]` removes them. */
  async faults(rules: FaultRule[]): Promise<void> {
    if (!Array.isArray(rules)) {
      const example = '[{ fault: "throttle" }]';
      const got = JSON.stringify(rules);
      throw new TypeError(`faults() takes an array of rules, such as ${example}; [] removes all rules. Got ${got}.`);
    }
    if (rules.length > 0) await this.#control.call("PUT", "/faults", { rules });
    else await this.#control.call("DELETE", "/faults", {});
  }

  /** Stops the expiry of an item just before the item is deleted, until releaseFailpoints() is called. */
  async armFailpoint(table: string, key: Key): Promise<void> {
    await this.#control.call("PUT", "/failpoints", { table, key: keyJson(key) });
  }

  /** The world's failpoints. */
  async failpoints(): Promise<Failpoint[]> {
    return (await this.#control.call("GET", "/failpoints")).failpoints;
  }

  /** Lets the expiry of the item continue. Without `table` or `key`, lets the expiry of all items continue. */
  async releaseFailpoints(table?: string, key?: Key): Promise<void> {
    const which = table === undefined || key === undefined ? {} : { table, key: keyJson(key) };
    await this.#control.call("DELETE", "/failpoints", which);
  }

  /**
   * Registers a function of this process, or a function that runs at a URL, as a Lambda function for event source mappings
   * and Invoke. The method `consume(table)` of a local function creates a mapping.
   *
   * An error that a handler throws is printed, and fails the test with a HandlerError at the next settle or when the test
   * ends. Register the function with `mayFail: true` if the test expects errors.
   */
  async function<Event = StreamEvent>(
    name: string,
    handler: Handler<Event>,
    options?: FunctionOptions,
  ): Promise<LocalFunction<Event>>;
  async function(name: string, url: string, options?: FunctionOptions): Promise<void>;
  async function(name: string, handler: Handler<any> | string, options: FunctionOptions = {}) {
    refuseUnknown(`function("${name}")`, options, ["timeoutSeconds", "mayFail"]);
    this.#functionNames.add(name);
    this.#failures.declare(name, options.mayFail ?? false);
    if (typeof handler === "function") return this.#functions.add(name, handler, options.timeoutSeconds);
    return registerFunction(this.#control, name, handler, options.timeoutSeconds);
  }

  /** The first failed calls to the test's own functions, including functions with `mayFail`, oldest first; at most 100. */
  handlerFailures(): HandlerFailure[] {
    return this.#failures.all;
  }

  /**
   * Waits until every record in the streams has reached its function. Throws a HandlerError if a function that was not
   * registered with `mayFail` failed. Equivalent to `clock.advance("0s", { settle: true })`.
   */
  async settle(options: { settleSeconds?: number } = {}): Promise<Settled> {
    refuseUnknown("settle()", options, ["settleSeconds"]);
    return this.clock.advance("0s", { ...options, settle: true });
  }

  /**
   * Makes any other call to the control API: `control("POST", "/streams/carts/split", {})`. Returns the response's JSON.
   */
  async control(method: string, path: string, body?: unknown): Promise<any> {
    return this.#control.call(method, path, body ?? (method === "GET" ? undefined : {}));
  }

  /**
   * Spends at most two seconds on delivering the remaining records to functions. Then empties the account, closes the
   * clients, stops the local functions, and restores the program's Date and environment. Throws a HandlerError if a
   * function failed since the last HandlerError.
   */
  async close(): Promise<void> {
    const { error } = await this.end(false);
    if (error) throw error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * @internal Closes the world at the end of its test. Returns the HandlerError that close() would throw and, if the test
   * has failed or fails because of that error, a report of items with a suspect TTL.
   */
  async end(failed: boolean): Promise<{ error?: HandlerError; suspects?: string }> {
    if (this.#closed) {
      await this.#closed;
      return {};
    }
    const handlers = this.#deliver();
    // The failures are taken before the world closes, so errors that handlers throw because the world closes are not
    // reported.
    const ended = handlers.then(async () => {
      const error = this.#failures.take();
      const suspects = failed || error ? await this.suspects() : undefined;
      return { ...(error ? { error } : {}), ...(suspects ? { suspects } : {}) };
    });
    this.#closed = ended.then(() => this.#close());
    await this.#closed;
    return ended;
  }

  // Delivers the remaining records and waits for handlers, so that a handler that fails does so before its test ends.
  async #deliver(): Promise<void> {
    if (this.#functionNames.size > 0) {
      const body = { seconds: 0, settle: "triggers", settle_seconds: deliveryTimeoutMs / 1000 };
      await this.#control.call("POST", "/clock/advance", body, 2 * deliveryTimeoutMs).catch(() => undefined);
    }
    await within(deliveryTimeoutMs, this.#functions.idle()); // includes handlers that no mapping called
  }

  /** @internal Lists items whose TTL can never fire or had passed when they were written, for a failed test's report. */
  async suspects(): Promise<string | undefined> {
    const { tables = {} } = await this.#control.call("GET", "/ttl", undefined, closeTimeoutMs).catch(() => ({}));
    const lines = Object.entries<{ suspects?: TtlSuspect[] }>(tables).flatMap(([table, { suspects = [] }]) =>
      suspects.map(({ key, message }) => `  ${table} ${JSON.stringify(key)}: ${message}`),
    );
    return lines.length > 0 ? `Mayfly found items with a suspect TTL:\n${lines.join("\n")}` : undefined;
  }

  #raise(settled: Settled): void {
    const error = this.#failures.take(settled);
    if (error) throw error;
  }

  async #close(): Promise<void> {
    this.#follower?.stop();
    this.#restoreEnvironment?.();
    this.#clients.destroy();
    const calls = [...this.#functionNames].map((name) => ["DELETE", `/functions/${encodeURIComponent(name)}`]);
    // Errors are ignored, because a dead server has nothing to free.
    for (const [method, path] of [["POST", "/reset"], ...calls]) {
      await this.#control.call(method!, path!, {}, closeTimeoutMs).catch(() => undefined);
    }
    await this.#functions.close();
  }
}

export interface FunctionOptions {
  /** The time limit of a call, in seconds. Default: 60. */
  timeoutSeconds?: number;
  /** Whether the test expects the function to fail. If true, its errors are neither printed nor thrown. */
  mayFail?: boolean;
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
