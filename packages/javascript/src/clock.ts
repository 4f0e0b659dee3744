// The clock of a world. What falls due while it is moved is gone when the call returns: from its table, from its
// indexes, and into the stream.

import type { Control } from "./control";
import type { Follower } from "./follow";
import { dateOrNull, durationSeconds, instantJson, isInstant, type Duration, type Instant } from "./times";

/** How a clock goes. */
export interface ClockState {
  /** `offset` is what `real` becomes when it is moved. */
  mode: "real" | "frozen" | "offset" | "rate";
  now: Date;
  /** How many times as fast as the host's, in the mode `rate`. */
  rate?: number;
}

/** What an advance brought about. */
export interface Advanced {
  now: Date;
  /** How many items expired, in all tables. */
  expired: number;
  /** How many items expired, by table. */
  tables: Record<string, number>;
  /** When something expires next; null if nothing will. */
  nextExpiry: Date | null;
  /** With `settle`: whether all that was in the streams has been delivered or given up. */
  settled?: boolean;
  /** With `settle`: the event source mappings that are not done, and why. */
  unfinished?: { UUID: string; FunctionArn: string; EventSourceArn: string; LastProcessingResult: string }[];
  /** Said if nothing is going to expire and the clock stayed where it is. */
  message?: string;
}

export interface AdvanceOptions {
  /** Answer when all that is in the streams has reached its functions, or was given up. */
  settle?: boolean;
  /** How long to wait for that, in real seconds: 30. */
  settleSeconds?: number;
  /** Let stream records age by the jump, so that after 24 hours they are trimmed. */
  ageStreams?: boolean;
}

export class Clock {
  readonly #control: Control;
  readonly #follower: Follower | undefined;
  #at: Date | undefined; // where the follower is

  /** @internal Worlds make their clocks. */
  constructor(control: Control, follower?: Follower) {
    this.#control = control;
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
  async advance(by: Duration | Instant | "next-expiry", options: AdvanceOptions = {}): Promise<Advanced> {
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
    try {
      return this.#moved(await this.#control.call("POST", "/clock/advance", body));
    } catch (problem) {
      this.#tell(before);
      throw problem;
    }
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
    ...(answer.settled === undefined ? {} : { settled: answer.settled, unfinished: answer.unfinished }),
    ...(answer.message === undefined ? {} : { message: answer.message }),
  };
}
