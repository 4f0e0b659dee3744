// Failures of a world's functions. Each is recorded, printed when it happens, and thrown once as a HandlerError.

import { stripVTControlCharacters } from "node:util";

import type { GivenUp, Settled, Unfinished } from "./clock";
import type { FunctionError } from "./errors";

/** A failed call to one of the test's own functions. */
export interface HandlerFailure {
  /** The function's name. */
  function: string;
  /** The value that the handler threw or with which its promise was rejected. */
  error: unknown;
  /** The event that the handler was called with. */
  event: any;
}

const failuresMax = 100; // failures that are kept for each world
const sentencesMax = 5;
const errorCharactersMax = 500;

/**
 * A function that was not registered with `mayFail` failed, or a settle found a mapping with records for an unregistered
 * function. Thrown by `settle()`, by an advance with `settle`, or when the test ends. `cause` is the first error that one
 * of the test's own handlers threw.
 */
export class HandlerError extends Error {
  override readonly name = "HandlerError";
  /** The failed calls to the test's own functions since the last HandlerError, oldest first; at most 100. */
  readonly failures: HandlerFailure[];
  /** The result of the settle that found the failures; undefined if the end of the test found them. */
  readonly settled: Settled | undefined;

  constructor(message: string, failures: HandlerFailure[], settled?: Settled) {
    super(message, failures.length > 0 ? { cause: failures[0]!.error } : undefined);
    this.failures = failures;
    this.settled = settled;
    // Test runners print enumerable properties, and the message already says what these properties contain.
    for (const name of ["failures", "settled"]) Object.defineProperty(this, name, { enumerable: false });
  }
}

type Stuck = (GivenUp & { retrying?: undefined }) | (Unfinished & { retrying: NonNullable<Unfinished["retrying"]> });

export class HandlerFailures {
  readonly #all: HandlerFailure[] = [];
  #unraised: HandlerFailure[] = [];
  readonly #mayFail = new Set<string>();
  /**
   * The last printed error of each function and record. If a retry fails with the same error, the error is not printed
   * again.
   */
  readonly #printed = new Map<string, string>();
  readonly #raised = new Set<string>();

  /** The first failed calls to the test's own functions, including functions with mayFail, oldest first; at most 100. */
  get all(): HandlerFailure[] {
    return [...this.#all];
  }

  /** Sets whether a function's failures are expected. */
  declare(name: string, mayFail: boolean): void {
    if (mayFail) this.#mayFail.add(name);
    else this.#mayFail.delete(name);
  }

  add(failure: HandlerFailure): void {
    if (this.#all.length < failuresMax) this.#all.push(failure);
    if (this.#mayFail.has(failure.function)) return;
    const records = recordsOf(failure);
    const error = errorText(failure.error);
    if (records.length === 0 || records.some((record) => this.#printed.get(record) !== error)) {
      console.error(`Mayfly: the function "${failure.function}" failed:`, failure.error);
    }
    for (const record of records) this.#printed.set(record, error);
    const raised = records.length > 0 && records.every((record) => this.#raised.has(record));
    if (!raised && this.#unraised.length < failuresMax) this.#unraised.push(failure);
  }

  /** The error to throw now, if any, for failures since the last error and for those that a settle reports. */
  take(settled?: Settled): HandlerError | undefined {
    const failures = this.#unraised.filter((failure) => !this.#mayFail.has(failure.function));
    this.#unraised = [];
    const unexpected = ({ function: name }: { function: string }) => !this.#mayFail.has(name);
    const stuck = settled ? stuckOf(settled).filter(unexpected) : [];
    const unregistered = settled ? settled.unfinished.filter((each) => each.registered === false).filter(unexpected) : [];
    for (const record of failures.flatMap(recordsOf)) this.#raised.add(record);
    const sentences = [...failureSentences(failures, stuck), ...unregisteredSentences(unregistered)];
    return sentences.length > 0 ? new HandlerError(sentences.join(" "), failures, settled) : undefined;
  }
}

function stuckOf({ givenUp, unfinished }: Settled): Stuck[] {
  return [...givenUp, ...unfinished.filter((each) => each.retrying)] as Stuck[];
}

function recordsOf({ function: name, event }: HandlerFailure): string[] {
  if (!Array.isArray(event?.Records)) return [];
  return event.Records.map((record: any) => record?.eventID).filter(Boolean).map((id: string) => `${name} ${id}`);
}

// Returns sentences such as
// "Function reminder failed on table carts: Mayfly gave up 2 records after 1 attempt (RetryAttemptsExhausted). …"
function failureSentences(failures: HandlerFailure[], stuck: Stuck[]): string[] {
  if (failures.length === 0 && stuck.length === 0) return [];
  const sentences = new Set(stuckSentences(stuck));
  const told = new Set(stuck.map((each) => each.function));
  const names = new Set([...told, ...failures.map((each) => each.function)]);
  for (const name of names) {
    const calls = failures.filter((each) => each.function === name);
    if (told.has(name)) continue;
    const last = calls[calls.length - 1]!;
    sentences.add(`Function ${name} failed ${counted(calls.length, "time")}. Its last error was ${errorText(last.error)}.`);
  }
  const shown = [...sentences].slice(0, sentencesMax);
  if (sentences.size > shown.length) shown.push(`${counted(sentences.size - shown.length, "more failure")} not listed.`);
  const which = names.size === 1 ? "the function" : "these functions";
  return [...shown, `If the test expects this, register ${which} with { mayFail: true }.`];
}

function unregisteredSentences(mappings: Unfinished[]): string[] {
  return mappings.slice(0, sentencesMax).map(
    (each) =>
      `Function ${each.function} is not registered, but a trigger of table ${each.table} has records for it. ` +
      "Register the function, or correct the trigger's function name.",
  );
}

// Returns one sentence for each group of batches that have the same function, table and outcome.
function stuckSentences(stuck: Stuck[]): string[] {
  const groups = new Map<string, { first: Stuck; records: number; attempts: number }>();
  for (const each of stuck) {
    const { attempts } = each.retrying ?? (each as GivenUp);
    const records = each.retrying ? each.retrying.records : (each as GivenUp).records.length + (each as GivenUp).leftOut;
    const condition = each.retrying ? "retrying" : (each as GivenUp).condition;
    const key = JSON.stringify([each.function, each.table, condition]);
    const group = groups.get(key) ?? { first: each, records: 0, attempts: 0 };
    groups.set(key, { first: each, records: group.records + records, attempts: Math.max(group.attempts, attempts) });
  }
  return [...groups.values()].map(({ first, records, attempts }) => {
    const error = functionErrorText(first.retrying?.error ?? (first as GivenUp).error);
    const what = first.retrying
      ? `Function ${first.function} keeps failing on table ${first.table}: ${counted(attempts, "attempt")} for ` +
        `${counted(records, "record")} so far.`
      : `Function ${first.function} failed on table ${first.table}: Mayfly gave up ${counted(records, "record")} after ` +
        `${counted(attempts, "attempt")} (${(first as GivenUp).condition}).`;
    return `${what} Its last error was ${error}.`;
  });
}

function functionErrorText(error: FunctionError | undefined): string {
  if (!error) return "unknown";
  if (error.type || error.message) return oneLine([error.type, error.message].filter(Boolean).join(": "));
  return error.error ? `${error.error} (HTTP status ${error.status})` : `HTTP status ${error.status}`;
}

function errorText(error: unknown): string {
  if (!(error instanceof Object) || typeof (error as Error).message !== "string") return oneLine(String(error));
  const { name = "Error", message } = error as Error;
  return oneLine(message ? `${name}: ${message}` : name);
}

function oneLine(text: string): string {
  const line = stripVTControlCharacters(text).replace(/\s+/g, " ").trim().replace(/\.$/, "");
  return line.length > errorCharactersMax ? `${line.slice(0, errorCharactersMax)}…` : line;
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;
