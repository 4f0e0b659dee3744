// The clock of a world. What falls due while it is moved is gone when the call returns: from its table, from its
// indexes, and into the stream.

import type { Control } from "./control";
import type { AttributeJson, EventName, FunctionError } from "./errors";
import type { Follower } from "./follow";
import { refuseUnknown } from "./options";
import { dateOrNull, durationSeconds, instantJson, isInstant, type Duration, type Instant } from "./times";

/** How a clock runs; `offset` is what `real` becomes when it is moved. */
export type ClockMode = "real" | "frozen" | "offset" | "rate";

export interface ClockState {
  mode: ClockMode;
  now: Date;
  /** How many times as fast as the host's clock, in the mode `rate`. */
  rate?: number;
}

/** Why an item's TTL never fires. */
export type NeverReason = "milliseconds" | "string" | "wrong_type" | "too_old";

/** The result of moving a clock. */
export interface Advanced {
  now: Date;
  /** How many items expired, in all tables. */
  expired: number;
  /** How many items expired, by table. */
  tables: Record<string, number>;
  /** When something expires next; null if nothing will. */
  nextExpiry: Date | null;
  /** How many items have a TTL that never fires, by table and reason: `{ carts: { string: 1 } }`. */
  never: Record<string, Partial<Record<NeverReason, number>>>;
  /** How many items had already expired when they were written, by table, since the last advance. */
  bornExpired: Record<string, number>;
  /** With `settle`: whether every record reached its function. */
  settled?: boolean;
  /** With `settle`: the event source mappings that are not done, and why. */
  unfinished?: Unfinished[];
  /** With `settle`: the batches that were given up since the last settle. */
  givenUp?: GivenUp[];
  /** A sentence, if nothing is going to expire and the clock stayed where it is. */
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
  /** The batch that fails and is being retried. */
  retrying?: { attempts: number; records: number; error: FunctionError };
  /** False if nobody registered the function. */
  registered?: boolean;
}

/** A batch that a mapping gave up. */
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
  /** How many further records the batch has. */
  leftOut: number;
  /** Where the batch was sent, if the mapping has a destination. */
  destination?: string;
}

export interface AdvanceOptions {
  /**
   * Return when every record in the streams has reached its function, was given up, or is in retry after its function
   * failed. Throws a HandlerError if a function failed that was not registered with `mayFail`.
   */
  settle?: boolean;
  /** The time limit for that, in real seconds: 30. */
  settleSeconds?: number;
  /** Let stream records age by the jump, so that they are trimmed after 24 hours. */
  ageStreams?: boolean;
}

export class Clock {
  readonly #control: Control;
  readonly #follower: Follower | undefined;
  readonly #check: (settled: Settled) => void;
  #at: Date | undefined; // where the follower is

  /** @internal Worlds make their clocks. `check` throws if a settle found failures. */
  constructor(control: Control, check: (settled: Settled) => void, follower?: Follower) {
    this.#control = control;
    this.#check = check;
    this.#follower = follower;
  }

  /** What time it is in the world. */
  async now(): Promise<Date> {
    return (await this.state()).now;
  }

  /** In epoch seconds, rounded down, as TTL wants them; `offset` is added: `await clock.epochSeconds("1h")`. */
  async epochSeconds(offset: Duration = "0s"): Promise<number> {
    return Math.floor((await this.now()).getTime() / 1000 + durationSeconds(offset));
  }

  async state(): Promise<ClockState> {
    return stateOf(await this.#control.call("GET", "/clock"));
  }

  /**
   * Stops it, at a time or where it is. A later time is an advance; an earlier one is refused (MayflyError, status
   * 409) while the world has tables.
   */
  async freeze(at?: Instant): Promise<Advanced> {
    return this.#put({ mode: "frozen", ...(at === undefined ? {} : { now: instantJson(at) }) });
  }

  /** Moves it to a time; it goes on as it went. The same rule as for freeze. */
  async set(to: Instant): Promise<Advanced> {
    return this.#put({ now: instantJson(to) });
  }

  /** Lets it go with the host's. Refused (409) where that would be back in time while the world has tables. */
  async real(): Promise<Advanced> {
    this.#refuseToRun("real()");
    return this.#put({ mode: "real" });
  }

  /** Lets it go `times` as fast as the host's, from where it is. */
  async rate(times: number): Promise<Advanced> {
    this.#refuseToRun("rate()");
    return this.#put({ mode: "rate", rate: times });
  }

  /**
   * Moves it through every instant at which something expires: by a span (`"48h"`, `{ hours: 48 }`), to a time (a
   * Date, `"2031-01-01T00:00:00Z"`), or to the `"next-expiry"`.
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
    // The program's Date goes first: functions are called with what expires while the advance is under way.
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

  /** @internal After a restore or a reset: the program's Date is where the clock is. */
  async catchUp(): Promise<void> {
    if (!this.#follower) return;
    const { mode, now } = await this.state();
    if (mode === "frozen") this.#tell(now);
    else await this.freeze();
  }

  // Where an advance will come to, for who follows; nothing if that is nowhere, or no time.
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
      `clock.${call} is not for a world with follow: the program's Date stands still between moves. ` +
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
