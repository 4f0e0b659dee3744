// Items whose TTL can never fire, and items that were written after their TTL had passed. The server reports them (GET
// /_mayfly/ttl).
import { badge, counted, element, fill, grid, moment } from "./elements.js";
import { reasons_text } from "./advanced.js";
import { link_to } from "./names.js";
import { key_text } from "./values.js";

/** @typedef {import("./values.js").Item} Item */

/** @param {Item} key @param {((key: Item) => unknown) | null} open */
const key_cell = (key, open) =>
  element(
    "td",
    { class: "value", title: key_text(key) },
    open
      ? element(
          "button",
          { type: "button", class: "link mono", title: "Open the item", onclick: () => open(key) },
          key_text(key),
        )
      : key_text(key),
  );

/** @param {any} one suspect */
const details = (one) => [
  [badge(one.reason, "bad"), " ", one.message],
  element("span", { class: "nowrap" }, one.at ? moment(Date.parse(one.at)) : ""),
];

/**
 * The card of a table that has items with a suspect TTL; null if it has no such items.
 * @param {any} ttl the response of GET /_mayfly/ttl/{table}
 * @param {(key: Item) => unknown} open
 */
export function suspects_card(ttl, open) {
  const list = ttl.suspects ?? [];
  const counts = reasons_text(ttl.never ?? {});
  if (!counts && !list.length) return null;
  return element(
    "details",
    { class: "card warning" },
    element(
      "summary",
      {},
      badge("TTL", "bad"),
      " ",
      counts ? `Items that never expire: ${counts}.` : "Items were written with a TTL in the past.",
    ),
    list.length
      ? grid(
          "Items with a suspect TTL",
          ["Key", "Why", "Written"],
          list.map((/** @type {any} */ one) => [key_cell(one.key, open), ...details(one)]),
        )
      : null,
  );
}

/** The card for all tables; hidden if no table has items with a suspect TTL. @param {HTMLElement} place @param {Record<string, any>} ttl the response of GET /_mayfly/ttl */
export function draw_suspects(place, ttl) {
  const rows = Object.entries(ttl).flatMap(([table, of]) =>
    (of.suspects ?? []).map((/** @type {any} */ one) => [
      element("a", { href: link_to(table) }, table),
      key_cell(one.key, null),
      ...details(one),
    ]),
  );
  const counts = Object.entries(ttl)
    .filter(([, of]) => Object.keys(of.never ?? {}).length)
    .map(([table, of]) => `${table}: ${reasons_text(of.never)}`);
  const total = Object.values(ttl).reduce(
    (sum, of) => sum + Object.values(of.never ?? {}).reduce((/** @type {number} */ part, one) => part + Number(one), 0),
    0,
  );
  place.hidden = !rows.length && !counts.length;
  fill(
    place,
    element("h2", { id: "never" }, "Items that never expire"),
    counts.length ? element("p", {}, `${counted(total)} items (${counts.join("; ")}).`) : null,
    rows.length ? grid("Items that never expire", ["Table", "Key", "Why", "Written"], rows) : null,
  );
}
