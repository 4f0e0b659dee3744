// Converts times and time spans for the control API.

/** A time: a Date, any object with toISOString(), or `"2031-01-01T00:00:00Z"`. */
export type Instant = string | { toISOString(): string };

/** A time span: `"48h"`, `"1h30m"`, `"500ms"`, or `{ days: 2, hours: 1 }`. It cannot be negative. */
export type Duration =
  | string
  | {
      weeks?: number;
      days?: number;
      hours?: number;
      minutes?: number;
      seconds?: number;
      milliseconds?: number;
    };

const unitMs: Record<string, number> = {
  weeks: 7 * 86_400_000,
  days: 86_400_000,
  hours: 3_600_000,
  minutes: 60_000,
  seconds: 1000,
  milliseconds: 1,
};
const shortUnits: Record<string, string> = {
  w: "weeks",
  d: "days",
  h: "hours",
  m: "minutes",
  s: "seconds",
  ms: "milliseconds",
};

export function instantJson(instant: Instant): string {
  return typeof instant === "string" ? instant : instant.toISOString();
}

export function isInstant(value: unknown): value is Instant {
  if (typeof value === "string") return /^\d{4,}-\d\d-\d\d/.test(value);
  return typeof (value as { toISOString?: unknown } | null)?.toISOString === "function";
}

export function durationSeconds(duration: Duration): number {
  const ms = typeof duration === "string" ? textMs(duration) : partsMs(duration);
  if (ms === undefined || !(ms >= 0)) {
    throw new TypeError(
      `${JSON.stringify(duration)} is not a time span. Write it with its unit: "48h", "1h30m" or { hours: 48 }.`,
    );
  }
  return ms / 1000;
}

function textMs(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|[wdhms]))+$/.test(text)) return undefined;
  let ms = 0;
  for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[wdhms])/g)) {
    ms += Number(count) * unitMs[shortUnits[unit!]!]!;
  }
  return ms;
}

function partsMs(parts: object): number | undefined {
  if (typeof parts !== "object" || parts === null) return undefined;
  let ms = 0;
  for (const [unit, count] of Object.entries(parts)) {
    if (!(unit in unitMs) || typeof count !== "number") return undefined;
    ms += count * unitMs[unit]!;
  }
  return Object.keys(parts).length > 0 ? ms : undefined;
}

export function dateOrNull(text: string | null | undefined): Date | null {
  return text ? new Date(text) : null;
}
