// Shows the result of an advance as sentences: expired items, items that never expire, and functions that failed.
import { counted, element, moment } from "./elements.js";
import { failure_text } from "./functions.js";
import { key_text } from "./values.js";

const keys_shown_max = 5,
  batches_shown_max = 20;

/** @param {number} count */
export const records = (count) => `${counted(count)} ${count === 1 ? "record" : "records"}`;

/** The number of items for each reason, {"milliseconds":3,"string":1}, as text. @param {Record<string, number>} reasons */
export const reasons_text = (reasons) =>
  Object.entries(reasons)
    .map(([reason, count]) => `${counted(count)} × ${reason}`)
    .join(", ");

/** @param {any} one batch that was given up */
function given_up(one) {
  const keys = one.records.slice(0, keys_shown_max).map((/** @type {any} */ record) => key_text(record.key));
  const more = one.records.length - keys.length + (one.left_out ?? 0);
  return element(
    "li",
    {},
    element("b", {}, one.function),
    ` on ${one.table}: ${one.condition} after ${counted(one.attempts)} ${one.attempts === 1 ? "attempt" : "attempts"}, ${failure_text(one.error ?? {})}. `,
    element("span", { class: "mono" }, keys.join("; ")),
    more ? ` and ${counted(more)} more` : "",
    one.destination ? [". Sent to ", element("code", {}, one.destination)] : "",
  );
}

/** @param {any} one mapping that has not finished */
function unfinished(one) {
  const { retrying } = one;
  return element(
    "li",
    {},
    element("b", {}, one.function ?? one.FunctionArn),
    one.table ? ` on ${one.table}` : "",
    `: ${one.LastProcessingResult ?? one.last_result ?? one.status ?? "not finished"}`,
    retrying
      ? `. Retrying ${records(retrying.records)}; ${counted(retrying.attempts)} attempts failed, the last with ${failure_text(retrying.error ?? {})}`
      : "",
  );
}

/** @param {any[]} entries @param {(one: any) => HTMLElement} draw */
const listed = (entries, draw) =>
  element(
    "ul",
    {},
    entries.slice(0, batches_shown_max).map(draw),
    entries.length > batches_shown_max
      ? element("li", {}, `${counted(entries.length - batches_shown_max)} more.`)
      : null,
  );

/** @param {any} answer of POST /_mayfly/clock/advance */
export function advanced(answer) {
  const where = Object.entries(answer.tables ?? {})
    .map(([name, count]) => `${name} ${counted(Number(count))}`)
    .join(", ");
  const never = Object.entries(answer.never ?? {}),
    born = Object.entries(answer.born_expired ?? {}),
    failed = answer.given_up ?? [],
    open = answer.unfinished ?? [];
  return element(
    "div",
    { class: "stack tight" },
    element(
      "p",
      { class: "told" },
      `The clock is at ${moment(Date.parse(answer.now))}. `,
      answer.message ? answer.message + " " : "",
      `Expired: ${counted(answer.expired ?? 0)}${where ? " (" + where + ")" : ""}.`,
      answer.next_expiry ? ` Next: ${moment(Date.parse(answer.next_expiry))}.` : "",
      answer.settled ? " All functions have finished." : "",
    ),
    never.length
      ? element(
          "p",
          { class: "error" },
          "Items that never expire: ",
          never.map(([table, reasons]) => `${table} (${reasons_text(/** @type {any} */ (reasons))})`).join(", "),
          ".",
        )
      : null,
    born.length
      ? element(
          "p",
          { class: "told" },
          "Written with a TTL in the past: ",
          born.map(([table, count]) => `${table} ${counted(Number(count))}`).join(", "),
          ". Does the writer use a different clock than the account?",
        )
      : null,
    failed.length
      ? element("div", { class: "error" }, "Functions gave up on records:", listed(failed, given_up))
      : null,
    open.length ? element("div", { class: "error" }, "Not finished yet:", listed(open, unfinished)) : null,
  );
}
