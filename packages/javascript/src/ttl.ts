// A table's time to live: its status, when expired items are deleted, and why an item still exists.

import type { NeverReason } from "./clock";
import type { Control } from "./control";
import type { AttributeJson } from "./errors";
import { keyJson, type Key } from "./keys";
import { dateOrNull } from "./times";

/** When expired items are deleted: immediately, late as on AWS, or by a sweep. */
export type TtlMode = "exact" | "aws" | "manual";

/** An item whose TTL can never fire, or had passed when the item was written. */
export interface TtlSuspect {
  /** The item's key in DynamoDB JSON. */
  key: Record<string, AttributeJson>;
  reason: NeverReason | "born_expired";
  /** The reason as a sentence. */
  message: string;
  /** When the item was written; null if that was before the server's process started. */
  at: Date | null;
}

export interface TtlStatus {
  status: "ENABLED" | "DISABLED";
  attribute?: string;
  mode: TtlMode;
  /** In the mode `aws`: the minimum and maximum delay of a deletion. */
  delaySeconds?: [number, number];
  seed?: number;
  /** How many items will expire. */
  pending: number;
  /** How many of the pending items are due but not deleted. */
  due: number;
  /** When the next item is due; null if none will expire. */
  nextDue: Date | null;
  /** How many items expired since the server started. */
  expired: number;
  /** How many expired items were already due when they were written, for example by a program with another clock. */
  bornExpired: number;
  /** How late expired items were deleted, in milliseconds. */
  lagMs: { p50: number; p99: number; max: number };
  /** How many items expire in each window of time. */
  windows: { window: string; count: number }[];
  /** How many items have a TTL that can never fire, by reason. */
  never: Partial<Record<NeverReason, number>>;
  /** The latest items whose TTL can never fire or had passed when they were written; at most ten. */
  suspects: TtlSuspect[];
}

/** An item that will expire. */
export interface Upcoming {
  /** The item's key in DynamoDB JSON. */
  key: Record<string, AttributeJson>;
  due: Date;
  /** When the item will be deleted; null if only a sweep deletes it. */
  expiresAt: Date | null;
}

/** Why an item still exists, or why it does not. */
export interface Explanation {
  reason:
    | "due"
    | "not_due"
    | "delayed"
    | "expired"
    | "born_expired"
    | "no_item"
    | "no_attribute"
    | "not_a_number"
    | "milliseconds"
    | "too_old"
    | "ttl_disabled";
  /** When the item will be deleted; null if it is never deleted, or only by a sweep. */
  expiresAt: Date | null;
  /** The explanation as a sentence. */
  message: string;
}

/** A table's time to live. Calls throw a MayflyError if the table does not exist. */
export class Ttl {
  readonly #control: Control;
  readonly #path: string;

  /** @internal Created by `world.ttl(table)`. */
  constructor(control: Control, table: string) {
    this.#control = control;
    this.#path = `/ttl/${encodeURIComponent(table)}`;
  }

  /** The table's TTL attribute, mode and counters. */
  async status(): Promise<TtlStatus> {
    return statusOf(await this.#control.call("GET", this.#path));
  }

  /**
   * Sets when expired items are deleted: immediately (`exact`), after random delays in the range `delaySeconds` (`aws`),
   * or only by sweep() (`manual`). The same `seed` gives the same delays. Returns the new status.
   */
  async set(
    mode: TtlMode,
    options: { delaySeconds?: [number, number]; seed?: number } = {},
  ): Promise<TtlStatus> {
    const { delaySeconds, seed } = options;
    const body = {
      mode,
      ...(delaySeconds === undefined ? {} : { delay_seconds: delaySeconds }),
      ...(seed === undefined ? {} : { seed }),
    };
    return statusOf(await this.#control.call("PUT", this.#path, body));
  }

  /** Deletes all expired items now, in every mode. Returns how many it deleted. */
  async sweep(): Promise<number> {
    return (await this.#control.call("POST", `${this.#path}/sweep`, {})).expired;
  }

  /** The next items that will expire, soonest first; at most `limit`. */
  async upcoming(limit = 100): Promise<Upcoming[]> {
    const { items } = await this.#control.call("GET", `${this.#path}/upcoming?limit=${limit}`);
    return items.map((item: any) => ({
      key: item.key,
      due: new Date(item.due),
      expiresAt: dateOrNull(item.expires_at),
    }));
  }

  /** Explains why an item still exists, or why it does not. */
  async explain(key: Key): Promise<Explanation> {
    const answer = await this.#control.call("POST", `${this.#path}/explain`, { key: keyJson(key) });
    return { reason: answer.reason, expiresAt: dateOrNull(answer.expires_at), message: answer.message };
  }
}

function statusOf(answer: any): TtlStatus {
  return {
    status: answer.status,
    ...(answer.attribute === undefined ? {} : { attribute: answer.attribute }),
    mode: answer.mode,
    ...(answer.delay_seconds === undefined ? {} : { delaySeconds: answer.delay_seconds, seed: answer.seed }),
    pending: answer.pending,
    due: answer.due,
    nextDue: dateOrNull(answer.next_due),
    expired: answer.expired,
    bornExpired: answer.born_expired,
    lagMs: answer.lag_ms,
    windows: answer.windows,
    never: answer.never ?? {},
    suspects: (answer.suspects ?? []).map((suspect: any) => ({ ...suspect, at: dateOrNull(suspect.at) })),
  };
}
