// The runner's interface: inputs, messages, and the files through which an action sets variables for later steps.
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands documents it.

import { randomUUID } from "node:crypto";
import { appendFileSync, closeSync, fstatSync, openSync, readSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";

const shownBytesMax = 256 * 1024;

/** The value of an input without surrounding spaces; "" if it is not set. */
export function input(name) {
  return (process.env[`INPUT_${name.toUpperCase()}`] ?? "").trim();
}

/** The lines of an input, without empty ones. */
export function lines(name) {
  return input(name)
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** The words of an input. Double or single quotes keep spaces. A backslash has no special meaning: Windows paths have many. */
export function words(name) {
  const found = [];
  let word, quote;
  for (const character of input(name)) {
    if (quote) {
      if (character === quote) quote = undefined;
      else word += character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= "";
    } else if (/\s/.test(character)) {
      if (word !== undefined) found.push(word);
      word = undefined;
    } else {
      word = (word ?? "") + character;
    }
  }
  if (quote) throw new Error(`The input '${name}' has an opening ${quote} without a closing one.`);
  if (word !== undefined) found.push(word);
  return found;
}

/** A whole number between `min` and `max`. */
export function number(name, min, max) {
  const text = input(name);
  if (!/^\d{1,9}$/.test(text) || Number(text) < min || Number(text) > max) {
    throw new Error(`The input '${name}' must be a whole number between ${min} and ${max}, got '${text}'.`);
  }
  return Number(text);
}

/** "true" or "false", in the spellings that YAML has for booleans. */
export function flag(name) {
  const text = input(name);
  if (/^(true|True|TRUE)$/.test(text)) return true;
  if (/^(false|False|FALSE)$/.test(text)) return false;
  throw new Error(`The input '${name}' must be true or false, got '${text}'.`);
}

/** The absolute path of a file that an input names. A relative path is relative to the workspace. */
export function path(text) {
  return isAbsolute(text) ? text : resolve(process.env.GITHUB_WORKSPACE ?? ".", text);
}

// Appends NAME<<DELIMITER to one of the runner's files. The random delimiter keeps a value from defining other variables.
function assign(file, name, value) {
  const target = process.env[file];
  if (!target) throw new Error(`${file} is not set. This script is part of a GitHub Action; the runner sets the variable.`);
  const delimiter = `mayfly_${randomUUID()}`;
  appendFileSync(target, `${name}<<${delimiter}\n${value}\n${delimiter}\n`);
}

export const setOutput = (name, value) => assign("GITHUB_OUTPUT", name, value);
export const setVariable = (name, value) => assign("GITHUB_ENV", name, value);
/** Stores a value for stop.mjs, which reads it with `state`. */
export const saveState = (name, value) => assign("GITHUB_STATE", name, value);
export const state = (name) => process.env[`STATE_${name}`] ?? "";

export function addPath(directory) {
  if (process.env.GITHUB_PATH) appendFileSync(process.env.GITHUB_PATH, `${directory}\n`);
}

const escaped = (text) => text.replace(/%/g, "%25").replace(/\r/g, "%0D").replace(/\n/g, "%0A");

/** Prints a line. Its text cannot be a command for the runner: `::error::` at the start, or `##[error]` anywhere. */
export function say(text) {
  console.log(`Mayfly: ${text.replace(/[\r\n]+/g, " ").replaceAll("##[", "## [")}`);
}
export function warn(text) {
  console.log(`::warning title=Mayfly::${escaped(text)}`);
}
/** Reports an error. The step fails when the script ends. */
export function fail(problem) {
  console.log(`::debug::${escaped(problem.stack)}`);
  console.log(`::error title=Mayfly::${escaped(problem.message)}`);
  process.exitCode = 1;
}

/**
 * Prints text that is not the action's own. The runner ignores commands such as ::add-mask:: in it, because only the random
 * token ends the section.
 */
export function printForeign(text) {
  const token = randomUUID();
  console.log(`::stop-commands::${token}`);
  console.log(text.trimEnd());
  console.log(`::${token}::`);
}

/** The end of a file, at most 256 KB of it; "" if it does not exist. */
export function tail(file) {
  let descriptor;
  try {
    descriptor = openSync(file, "r");
  } catch {
    return "";
  }
  try {
    const end = fstatSync(descriptor).size;
    const from = Math.max(0, end - shownBytesMax);
    const buffer = Buffer.alloc(end - from);
    const text = buffer.toString("utf8", 0, readSync(descriptor, buffer, 0, buffer.length, from));
    if (from === 0) return text;
    return `(The first ${from} bytes are not shown.)\n${text.slice(text.indexOf("\n") + 1)}`;
  } finally {
    closeSync(descriptor);
  }
}

/** Prints the end of the server's log. A folded log is shown only when the reader opens it. */
export function printLog(file, { isFolded }) {
  console.log(`${isFolded ? "::group::" : ""}Mayfly's log`);
  printForeign(tail(file) || "(The log is empty.)");
  if (isFolded) console.log("::endgroup::");
}
