// The clock of a world. When a call that moves the clock returns, items that expired on the way are gone from the table
// and its indexes, and their records are in the stream.

import type { Control } from "./control";
import type { AttributeJson, EventName, FunctionError } from "./errors";
import type { Follower } from "./follow";
import { refuseUnknown } from "./options";
import { dateOrNull, durationSeconds, instantJson, isInstant, type Duration, type Instant } from "./times";

/** How a clock runs. A `real` clock becomes an `offset` clock when it is moved. */
export type ClockMode = "real" | "frozen" | "offset" | "rate";

export interface ClockState {
  mode: ClockMode;
  now: Date;
  /** In the mode `rate`: the clock's speed, as a multiple of the speed of the host's clock. */
  rate?: number;
}

/** Why an item's TTL can never fire. */
export type NeverReason = "milliseconds" | "string" | "wrong_type" | "too_old";

/** The result of moving a clock. */
export interface Advanced {
  /** The clock's new time. */
  now: Date;
  /** How many items expired, in all tables. */
  expired: number;
  /** How many items expired, by table. */
  tables: Record<string, number>;
  /** When the next item expires; null if none will. */
  nextExpiry: Date | null;
  /** How many items have a TTL that can never fire, by table and reason: `{ carts: { string: 1 } }`. */
  never: Record<string, Partial<Record<NeverReason, number>>>;
  /** How many items were written with a TTL that had already passed, by table, since the last advance. */
  bornExpired: Record<string, number>;
  /** With `settle`: whether every record reached its function. */
  settled?: boolean;
  /** With `settle`: the event source mappings that still have records to deliver, and why. */
  unfinished?: Unfinished[];
  /** With `settle`: the batches that the server gave up on since the last settle. */
  givenUp?: GivenUp[];
  /** Why the clock did not move, for example because no item will expire. */
  message?: string;
}

/** The result of a settle. */
export interface Settled extends Advanced {
  settled: boolean;
  unfinished: Unfinished[];
  givenUp: GivenUp[];
}

/** An event source mapping that still has records to deliver. */
export interface Unfinished {
  UUID: string;
  FunctionArn: string;
  EventSourceArn: string;
  LastProcessingResult: string;
  /** The function's name. */
  function: string;
  table?: string;
  /** The failed batch that is being retried. */
  retrying?: { attempts: number; records: number; error: FunctionError };
  /** False if the function is not registered. */
  registered?: boolean;
}

/** A batch that a mapping gave up on. */
export interface GivenUp {
  UUID: string;
  /** The function's name. */
  function: string;
  table?: string;
  /** The stream's ARN. */
  stream: string;
  /** `"RetryAttemptsExhausted"`, `"RecordAgeExceeded"`, … */
  condition: string;
  attempts: number;
  error?: FunctionError;
  /** The first records of the batch. */
  records: { sequenceNumber: string; event: EventName; key: Record<string, AttributeJson> }[];
  /** How many more records the batch has. */
  leftOut: number;
  /** Where the batch was sent, if the mapping has a destination. */
  destination?: string;
}

export interface AdvanceOptions {
  /**
   * Wait until every record in the streams has reached its function, has been given up, or is being retried after its
   * function failed. The advance throws a HandlerError if a function that was not registered with `mayFail` failed.
   */
  settle?: boolean;
  /** The time limit of `settle`, in real seconds. Default: 30. */
  settleSeconds?: number;
  /** Make stream records age with the advance, so that records older than 24 hours are trimmed. */
  ageStreams?: boolean;
}

/** A world's clock. TTL, creation times and the age of stream records follow it. */
export class Clock {
  readonly #control: Control;
  readonly #follower: Follower | undefined;
  readonly #check: (settled: Settled) => void;
  #at: Date | undefined; // the follower's time

  /** @internal Worlds create their clocks. `check` throws if a settle found failures. */
  constructor(control: Control, check: (settled: Settled) => void, follower?: Follower) {
    this.#control = control;
    this.#check = check;
    this.#follower = follower;
  }

  /** The world's time. */
  async now(): Promise<Date> {
    return (await this.state()).now;
  }

  /**
   * The world's time plus `offset` as the value of a TTL attribute, in whole epoch seconds, rounded down:
   * `await clock.epochSeconds("1h")`.
   */
  async epochSeconds(offset: Duration = "0s"): Promise<number> {
    return Math.floor((await this.now()).getTime() / 1000 + durationSeconds(offset));
  }

  /** The clock's mode and time. */
  async state(): Promise<ClockState> {
    return stateOf(await this.#control.call("GET", "/clock"));
  }

  /**
   * Freezes the clock at its current time or at `at`. Moving to a later time expires items on the way. Throws a MayflyError
   * with status 409 if `at` is before the clock's time and the world has tables.
   */
  async freeze(at?: Instant): Promise<Advanced> {
    return this.#put({ mode: "frozen", ...(at === undefined ? {} : { now: instantJson(at) }) });
  }

  /**
   * Moves the clock to a time. A frozen clock stays frozen; any other clock keeps running. Throws the same errors as
   * freeze().
   */
  async set(to: Instant): Promise<Advanced> {
    return this.#put({ now: instantJson(to) });
  }

  /**
   * Makes the clock show the host's time again. Throws a MayflyError with status 409 if the clock is ahead of the host's
   * time and the world has tables.
   */
  async real(): Promise<Advanced> {
    this.#refuseToRun("real()");
    return this.#put({ mode: "real" });
  }

  /** Lets the clock run from its current time, `times` times as fast as the host's clock. */
  async rate(times: number): Promise<Advanced> {
    this.#refuseToRun("rate()");
    return this.#put({ mode: "rate", rate: times });
  }

  /**
   * Moves the clock forward, through every instant at which an item expires: by a span (`"48h"`, `{ hours: 48 }`), to a
   * time (a Date, `"2031-01-01T00:00:00Z"`), or to the next expiry (`"next-expiry"`). When the call returns, expired
   * items are gone from the table and its indexes, and their records are in the stream.
   */
  async advance(by: Duration | Instant | "next-expiry", options: AdvanceOptions & { settle: true }): Promise<Settled>;
  async advance(by: Duration | Instant | "next-expiry", options?: AdvanceOptions): Promise<Advanced>;
  async advance(by: Duration | Instant | "next-expiry", options: AdvanceOptions = {}): Promise<Advanced> {
    refuseUnknown("advance()", options, ["settle", "settleSeconds", "ageStreams"]);
    const way =
      by === "next-expiry" ? { to: by } : isInstant(by) ? { to: instantJson(by) } : { seconds: durationSeconds(by) };
    const ageing = options.ageStreams ? { age_streams: true } : {};
    const settling = options.settle
      ? { settle: "triggers", ...(options.settleSeconds === undefined ? {} : { settle_seconds: options.settleSeconds }) }
      : {};
    const body = { ...way, ...ageing, ...settling };
    const before = this.#at;
    // The program's Date moves first, because the functions that the server calls during the advance may read it.
    this.#tell(await this.#target(by));
    let advanced;
    try {
      advanced = this.#moved(await this.#control.call("POST", "/clock/advance", body));
    } catch (problem) {
      this.#tell(before);
      throw problem;
    }
    if (options.settle) this.#check(advanced as Settled);
    return advanced;
  }

  /** @internal Moves the program's Date to the clock's time after a restore or a reset. */
  async catchUp(): Promise<void> {
    if (!this.#follower) return;
    const { mode, now } = await this.state();
    if (mode === "frozen") this.#tell(now);
    else await this.freeze();
  }

  // The time at which an advance will end, for the follower. Undefined if there is no follower, or if the advance goes to
  // the next expiry and no item will expire.
  async #target(by: Duration | Instant): Promise<Date | undefined> {
    if (!this.#follower || !this.#at) return undefined;
    if (by === "next-expiry") {
      const { next_expiry } = await this.#control.call("POST", "/clock/advance", { seconds: 0 });
      return dateOrNull(next_expiry) ?? undefined;
    }
    if (isInstant(by)) return new Date(instantJson(by));
    return new Date(this.#at.getTime() + Math.round(durationSeconds(by) * 1000));
  }

  #tell(now: Date | undefined): void {
    if (!this.#follower || !now || Number.isNaN(now.getTime()) || now.getTime() === this.#at?.getTime()) return;
    this.#at = now;
    this.#follower.move(now);
  }

  async #put(setting: object): Promise<Advanced> {
    return this.#moved(await this.#control.call("PUT", "/clock", setting));
  }

  #moved(answer: any): Advanced {
    const advanced = advancedOf(answer);
    this.#tell(advanced.now);
    return advanced;
  }

  #refuseToRun(call: string): void {
    if (!this.#follower) return;
    throw new TypeError(
      `clock.${call} cannot be used in a world with follow, because the program's Date stands still between moves. ` +
        "Use advance(), or a world without follow.",
    );
  }
}

function stateOf(answer: any): ClockState {
  return { mode: answer.mode, now: new Date(answer.now), ...(answer.rate === undefined ? {} : { rate: answer.rate }) };
}

function advancedOf(answer: any): Advanced {
  return {
    now: new Date(answer.now),
    expired: answer.expired,
    tables: answer.tables,
    nextExpiry: dateOrNull(answer.next_expiry),
    never: answer.never ?? {},
    bornExpired: answer.born_expired ?? {},
    ...(answer.settled === undefined ? {} : settledOf(answer)),
    ...(answer.message === undefined ? {} : { message: answer.message }),
  };
}

function settledOf({ settled, unfinished = [], given_up = [] }: any) {
  const givenUp = given_up.map(({ records = [], left_out = 0, ...rest }: any) => ({
    ...rest,
    records: records.map(({ sequence_number, ...record }: any) => ({ sequenceNumber: sequence_number, ...record })),
    leftOut: left_out,
  }));
  return { settled, unfinished, givenUp };
}
