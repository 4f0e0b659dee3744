// The meaning of a TTL attribute's value, and fields in which a user enters it as a date, a span or epoch seconds.
import { button, element, fill, moment, spanned } from "./elements.js";
import { now } from "./server.js";

/** @typedef {import("./values.js").Value} Value */
/** @typedef {{ kind: "expires" | "expired" | "never", text: string, fix: Value | null }} Verdict `fix`: the value that was probably meant */

// The server uses the same limits (engine/time/expiry_index.h, engine/base/clock.h).
const last_second = 253_402_300_799,
  age_ms_max = 157_784_760_000;

const type_words = /** @type {Record<string, string>} */ ({
  S: "A string",
  B: "Binary data",
  BOOL: "A boolean",
  NULL: "Null",
  M: "A map",
  L: "A list",
  SS: "A string set",
  NS: "A number set",
  BS: "A binary set",
});

/** @param {string} text "90", "90s", "15m", "48h", "2d", "1h30m"; null: it is not a duration */
export function seconds_of(text) {
  const parts = [...text.trim().matchAll(/(\d+(?:\.\d+)?)\s*([smhd]?)/gy)];
  if (!parts.length || parts.reduce((sum, part) => sum + part[0].length, 0) !== text.trim().length) return null;
  const units = /** @type {Record<string, number>} */ ({ "": 1, s: 1, m: 60, h: 3600, d: 86400 });
  return parts.reduce((sum, part) => sum + Number(part[1]) * units[part[2]], 0);
}

/** The unit of a time in ms, µs or ns, and how many of these units make a second; undefined for other numbers. @param {number} value */
function finer_unit(value) {
  const units = /** @type {[number, string][]} */ ([
    [1e3, "milliseconds"],
    [1e6, "microseconds"],
    [1e9, "nanoseconds"],
  ]);
  return units.find(([size]) => value / size <= last_second);
}

/**
 * Returns when an item with this TTL expires by the account's clock, or why the item never expires.
 * @param {Value} value @param {number} [at] the time, in milliseconds
 * @returns {Verdict}
 */
export function verdict(value, at = now()) {
  if (value.N === undefined) {
    const type = Object.keys(value)[0];
    const text = `${type_words[type] ?? "This type"} never expires. TTL takes a Number (N) of epoch seconds.`;
    return { kind: "never", text, fix: /^\d{1,18}$/.test(value.S ?? "") ? { N: value.S } : null };
  }
  const seconds = value.N.trim() === "" ? NaN : Number(value.N);
  if (Number.isNaN(seconds)) return { kind: "never", text: "Not a number. TTL takes epoch seconds.", fix: null };
  if (seconds > last_second) {
    const unit = finer_unit(seconds);
    if (!unit) return { kind: "never", text: "This is after the year 9999, so the item never expires.", fix: null };
    const meant = Math.floor(seconds / unit[0]);
    return {
      kind: "never",
      text: `This looks like ${unit[1]}, so the item never expires. TTL takes seconds: ${meant} is ${moment(meant * 1000)}.`,
      fix: { N: String(meant) },
    };
  }
  const due = Math.floor(seconds * 1000) + 1; // the first millisecond after the TTL
  if (seconds < 0 || due <= at - age_ms_max)
    return {
      kind: "never",
      text: `${moment(seconds * 1000)} is more than five years ago. DynamoDB ignores such a TTL, so the item never expires.`,
      fix: null,
    };
  if (due <= at)
    return {
      kind: "expired",
      text: `This time has passed (${spanned(seconds * 1000 - at)}), so the item expires immediately.`,
      fix: null,
    };
  return {
    kind: "expires",
    text: `Expires ${spanned(seconds * 1000 - at)}, at ${moment(seconds * 1000)} UTC.`,
    fix: null,
  };
}

/** A verdict as a line, with a button that corrects the value. @param {Verdict} of @param {((fix: Value) => void) | null} use */
export function verdict_line(of, use) {
  const { fix } = of;
  return element(
    "div",
    { class: of.kind === "expires" ? "small dim" : "told" },
    of.text,
    fix && use ? [" ", button(`Use ${fix.N}`, () => use(fix), { class: "small" })] : null,
  );
}

/**
 * The fields of a TTL attribute of type N: epoch seconds, a date, and a span from now. Editing one of these fields
 * updates the others.
 * @param {HTMLInputElement} epoch
 */
export function ttl_fields(epoch) {
  const date = element("input", { type: "datetime-local", step: 1, "aria-label": "Expires at (UTC)" });
  const span = element("input", { placeholder: "1h30m", size: 6, spellcheck: "false", "aria-label": "Expires after" });
  const said = element("div", { role: "status" });
  const show = () => {
    const of = verdict({ N: epoch.value });
    const seconds = Number(epoch.value);
    date.value =
      of.kind !== "never" && seconds >= 0 ? new Date(Math.floor(seconds) * 1000).toISOString().slice(0, 19) : "";
    fill(
      said,
      verdict_line(of, (fix) => {
        epoch.value = fix.N;
        show();
      }),
    );
  };
  const set = (/** @type {number} */ ms) => {
    if (Number.isNaN(ms)) return;
    epoch.value = String(Math.floor(ms / 1000));
    show();
  };
  epoch.addEventListener("input", show);
  date.addEventListener("change", () => set(Date.parse(date.value + "Z")));
  span.addEventListener("input", () => {
    const seconds = seconds_of(span.value);
    if (seconds !== null) set(now() + seconds * 1000);
  });
  show();
  return element(
    "div",
    { class: "ttl" },
    element(
      "div",
      { class: "row middle small" },
      element("span", { class: "dim" }, "in"),
      span,
      element("span", { class: "dim" }, "or at (UTC)"),
      date,
    ),
    said,
  );
}
