// A world: an account that nobody else has, with tables, streams and a clock of its own. Each test has one, so that
// tests that run at the same time share nothing.

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

/** What a fault does to an operation. */
export type FaultKind =
  | "throttle"
  | "internal_server_error"
  | "latency"
  | "connection_closed"
  | "unprocessed"
  | "transaction_conflict"
  | "stale_reads"
  | "replicated_write_conflict";

/** A rule by which operations fail. docs/control.md describes each fault. */
export interface FaultRule {
  fault: FaultKind;
  /** Only this operation: `"PutItem"`. */
  operation?: string;
  /** Only operations on this table. */
  table?: string;
  /** How often the fault strikes at most. */
  count?: number;
  /** How often it strikes, from 0 to 1; the same way each time for the same seed. */
  probability?: number;
  seed?: number;
  /** Of `throttle`: the exception. */
  exception?: "ProvisionedThroughputExceededException" | "ThrottlingException" | "RequestLimitExceeded";
  /**
   * Of `internal_server_error`, `connection_closed` and `latency`: whether the operation is applied although the client does
   * not hear of it. Default: only latency's is, before the delay.
   */
  applied?: boolean;
  /** Of `latency` and `stale_reads`. */
  milliseconds?: number;
  /** Of `unprocessed`: how many items a batch leaves unprocessed. */
  items?: number;
  /** Of `stale_reads`: how many commits a read lags behind at most. */
  writes?: number;
}

export interface WaitOptions {
  event?: EventName;
  /** Who changes the item: `service` is TTL. Default: anybody. */
  by?: "user" | "service";
  /** Also count changes that the table's stream has since this time of the world's clock. */
  since?: Instant;
  /** In real seconds: 5. */
  timeoutSeconds?: number;
}

/** A snapshot of a world: tables, items, pending expiries, streams, clock. */
export interface Snapshot {
  readonly id: string;
  /** Restores it, any number of times. */
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
const deliveryTimeoutMs = 2_000; // how long the end of a test waits until functions have processed what was written

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

  /** The AWS SDK's client of DynamoDB. */
  get dynamodb(): DynamoDBClient {
    return this.#clients.dynamodb;
  }

  /** The AWS SDK's document client, which takes and returns plain objects. */
  get documents(): DynamoDBDocumentClient {
    return this.#clients.documents;
  }

  /** The AWS SDK's client of DynamoDB Streams. */
  get streams(): DynamoDBStreamsClient {
    return this.#clients.streams;
  }

  /** The configuration that makes any client of the AWS SDK one of this world. */
  get clientConfig(): DynamoDBClientConfig {
    return { ...this.#clients.config };
  }

  /** The environment variables with which another process, or a client that code makes for itself, uses this world. */
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
   * Creates a table: `createTable("carts", { key: "customer", sort: { name: "at", type: "N" }, ttl: "ttl" })`. It has a
   * stream unless `stream` is false.
   */
  async createTable(name: string, options: TableOptions = {}): Promise<TableDescription> {
    return createTable(this.dynamodb, name, options);
  }

  /** A table's time to live: its status and mode, what expires next, why an item is still there. */
  ttl(table: string): Ttl {
    return new Ttl(this.#control, table);
  }

  /** Explains why an item is still there, or why it is not. */
  async explain(table: string, key: Key): Promise<Explanation> {
    return this.ttl(table).explain(key);
  }

  /**
   * Waits until an item changes, and returns the record. Changes since the call count, or, with `since`, changes since
   * that time. Throws a WaitTimeoutError whose `records` are the other changes of the item.
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

  /** Empties the world: removes tables, streams, snapshots, mappings and faults, and resets the clock. */
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

  /** Stops the expiry of an item between "due" and "deleted", until releaseFailpoints(). */
  async armFailpoint(table: string, key: Key): Promise<void> {
    await this.#control.call("PUT", "/failpoints", { table, key: keyJson(key) });
  }

  async failpoints(): Promise<Failpoint[]> {
    return (await this.#control.call("GET", "/failpoints")).failpoints;
  }

  /** Lets the expiry of an item continue, or of all items. */
  async releaseFailpoints(table?: string, key?: Key): Promise<void> {
    const which = table === undefined || key === undefined ? {} : { table, key: keyJson(key) };
    await this.#control.call("DELETE", "/failpoints", which);
  }

  /**
   * Registers a function of this process, or what answers at a URL, as a Lambda function of the world, for event source
   * mappings and Invoke. `consume(table)` of a local function creates a mapping.
   *
   * An error of a handler is printed, and fails the test with a HandlerError: at the next settle, and at the latest when
   * the test ends. Register the function with `mayFail: true` if the test expects errors.
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

  /** The failed calls of the test's own functions, those with `mayFail` too, oldest first; at most 100. */
  handlerFailures(): HandlerFailure[] {
    return this.#failures.all;
  }

  /**
   * Waits until every record in the streams has reached its function. Throws a HandlerError if a function failed that
   * was not registered with `mayFail`. The same as `clock.advance("0s", { settle: true })`.
   */
  async settle(options: { settleSeconds?: number } = {}): Promise<Settled> {
    refuseUnknown("settle()", options, ["settleSeconds"]);
    return this.clock.advance("0s", { ...options, settle: true });
  }

  /** Makes any other call of the control API: `control("POST", "/streams/carts/split", {})`. Returns its answer. */
  async control(method: string, path: string, body?: unknown): Promise<any> {
    return this.#control.call(method, path, body ?? (method === "GET" ? undefined : {}));
  }

  /**
   * Delivers what is left to functions, for at most two seconds. Then empties the account, closes clients and local
   * functions, and gives the program's Date and environment back. Last, throws a HandlerError if a function failed since
   * the last one was thrown.
   */
  async close(): Promise<void> {
    const { error } = await this.end(false);
    if (error) throw error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * @internal Closes it when its test has ended. Returns the HandlerError that close() would throw, and, if the test has
   * failed or does now, a report of items whose TTL is suspect.
   */
  async end(failed: boolean): Promise<{ error?: HandlerError; suspects?: string }> {
    if (this.#closed) {
      await this.#closed;
      return {};
    }
    const handlers = this.#deliver();
    // What handlers throw because the world is being closed does not count.
    const ended = handlers.then(async () => {
      const error = this.#failures.take();
      const suspects = failed || error ? await this.suspects() : undefined;
      return { ...(error ? { error } : {}), ...(suspects ? { suspects } : {}) };
    });
    this.#closed = ended.then(() => this.#close());
    await this.#closed;
    return ended;
  }

  // A test does not end before its handlers have failed.
  async #deliver(): Promise<void> {
    if (this.#functionNames.size > 0) {
      const body = { seconds: 0, settle: "triggers", settle_seconds: deliveryTimeoutMs / 1000 };
      await this.#control.call("POST", "/clock/advance", body, 2 * deliveryTimeoutMs).catch(() => undefined);
    }
    await within(deliveryTimeoutMs, this.#functions.idle()); // those that nothing triggers
  }

  /** @internal For the report of a failed test: items whose TTL never fires, or had passed when they were written. */
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
    // A server that died has nothing to give back.
    for (const [method, path] of [["POST", "/reset"], ...calls]) {
      await this.#control.call(method!, path!, {}, closeTimeoutMs).catch(() => undefined);
    }
    await this.#functions.close();
  }
}

export interface FunctionOptions {
  /** The time limit of a call: 60. */
  timeoutSeconds?: number;
  /** The test expects that the function fails: errors are neither printed nor thrown. */
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
