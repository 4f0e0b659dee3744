// Time to live of one table: how it stands, when what is due is deleted, why an item is still there.

import type { NeverReason } from "./clock";
import type { Control } from "./control";
import type { AttributeJson } from "./errors";
import { keyJson, type Key } from "./keys";
import { dateOrNull } from "./times";

/** When an expired item is deleted: at once, late by a delay as on AWS, or by a sweep. */
export type TtlMode = "exact" | "aws" | "manual";

/** An item whose TTL never fires, or that had already expired when it was written. */
export interface TtlSuspect {
  /** In DynamoDB JSON. */
  key: Record<string, AttributeJson>;
  reason: NeverReason | "born_expired";
  /** A sentence. */
  message: string;
  /** When it was written; null for an item that is older than the server's process. */
  at: Date | null;
}

export interface TtlStatus {
  status: "ENABLED" | "DISABLED";
  attribute?: string;
  mode: TtlMode;
  /** In the mode `aws`: the least and the most that a deletion comes late. */
  delaySeconds?: [number, number];
  seed?: number;
  /** How many items will expire. */
  pending: number;
  /** How many of them are due and still there. */
  due: number;
  nextDue: Date | null;
  /** How many have been deleted since the server started. */
  expired: number;
  /** How many of those were due already when they were written: by a writer that goes by another clock, say. */
  bornExpired: number;
  /** How late they were deleted, in milliseconds. */
  lagMs: { p50: number; p99: number; max: number };
  windows: { window: string; count: number }[];
  /** How many items have a TTL that never fires, by reason. */
  never: Partial<Record<NeverReason, number>>;
  /** The latest items with a TTL that never fires or had passed when they were written; at most ten. */
  suspects: TtlSuspect[];
}

export interface Upcoming {
  /** In DynamoDB JSON. */
  key: Record<string, AttributeJson>;
  due: Date;
  /** Null if only a sweep deletes it. */
  expiresAt: Date | null;
}

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
  expiresAt: Date | null;
  /** A sentence. */
  message: string;
}

export class Ttl {
  readonly #control: Control;
  readonly #path: string;

  /** @internal `world.ttl(table)` makes it. */
  constructor(control: Control, table: string) {
    this.#control = control;
    this.#path = `/ttl/${encodeURIComponent(table)}`;
  }

  async status(): Promise<TtlStatus> {
    return statusOf(await this.#control.call("GET", this.#path));
  }

  /**
   * When what is due is deleted: `exact`, at once; `aws`, late by a delay from `delaySeconds` (drawn from `seed`);
   * `manual`, by sweep().
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

  /** Deletes what is due, in every mode; how many that were. */
  async sweep(): Promise<number> {
    return (await this.#control.call("POST", `${this.#path}/sweep`, {})).expired;
  }

  /** What goes next, soonest first. */
  async upcoming(limit = 100): Promise<Upcoming[]> {
    const { items } = await this.#control.call("GET", `${this.#path}/upcoming?limit=${limit}`);
    return items.map((item: any) => ({
      key: item.key,
      due: new Date(item.due),
      expiresAt: dateOrNull(item.expires_at),
    }));
  }

  /** Why an item is still there, or is not. */
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
