// A table's items: pages of a scan or a query.
import { badge, button, element, grid, spanned, tell } from "./elements.js";
import { show_call } from "./calls.js";
import { edit_item } from "./item.js";
import { pager } from "./pages.js";
import { keys_of, search_form } from "./search.js";
import { dynamodb, now } from "./server.js";
import { suspects_card } from "./suspects.js";
import { verdict } from "./ttl.js";
import { attribute, brief, cell, key_of } from "./values.js";
import { recalled, remember } from "./views.js";

/** @typedef {import("./values.js").Item} Item */

const columns_max = 8,
  kept_pages_max = 60;

/**
 * @param {Item[]} items
 * @param {string[]} keys
 * @param {((item: Item) => void) | null} open
 * @param {string | null} ttl the attribute by which the items expire
 */
export function items_grid(items, keys, open, ttl) {
  /** @type {Map<string, number>} */
  const uses = new Map();
  for (const item of items) for (const name of Object.keys(item)) uses.set(name, (uses.get(name) ?? 0) + 1);
  const others = [...uses.keys()]
    .filter((name) => !keys.includes(name))
    .sort((a, b) => (uses.get(b) ?? 0) - (uses.get(a) ?? 0) || (a < b ? -1 : 1));
  if (ttl && others.includes(ttl)) others.unshift(...others.splice(others.indexOf(ttl), 1));
  const names = [...keys.filter((name) => uses.has(name)), ...others].slice(0, columns_max);
  const left_out = uses.size - names.length;
  const rows = items.map((item) => {
    const cells = names.map((name, at) => {
      const value = attribute(item, name);
      if (at === 0 && open && value) {
        const text = brief(value, 60);
        return element(
          "td",
          { class: "value" },
          element(
            "button",
            { type: "button", class: "link mono", title: "Open the item", onclick: () => open(item) },
            text === "" ? "(empty)" : text,
          ),
        );
      }
      if (name === ttl && value) return ttl_cell(value);
      return cell(value);
    });
    return left_out > 0
      ? [
          ...cells,
          element(
            "td",
            { class: "dim small" },
            String(
              Math.max(0, Object.keys(item).length - names.filter((name) => Object.hasOwn(item, name)).length) || "",
            ),
          ),
        ]
      : cells;
  });
  return grid("Items", left_out > 0 ? [...names, `${left_out} more attributes`] : names, rows);
}

/** A TTL attribute as a cell: its value, and whether and when the item expires. @param {import("./values.js").Value} value */
function ttl_cell(value) {
  const of = verdict(value);
  return element(
    "td",
    { class: "value N", title: of.text },
    brief(value, 30),
    " ",
    of.kind === "never"
      ? badge("never expires", "bad")
      : element("span", { class: "type" }, spanned(Number(value.N) * 1000 - now())),
  );
}

/** @param {HTMLElement} place @param {any} table @param {any} ttl @param {AbortSignal} signal */
export async function items_pane(place, table, ttl, signal) {
  const keys = keys_of(table);
  const expires_by = ttl.status === "ENABLED" ? ttl.attribute : null;
  const search = search_form(table);
  const found = element("section", { class: "card stack", "aria-label": "Results" });
  /** The request whose pages are shown. The form may have changed since. */
  let asked = { operation: "Scan", input: {}, size: 0, filtered: false, key_names: keys };
  const take = () =>
    (asked = {
      operation: search.operation(),
      input: search.input(),
      size: search.page_size(),
      filtered: search.filtered(),
      key_names: search.key_names(),
    });
  const pages = pager(
    found,
    {
      size: () => asked.size,
      filtered: () => asked.filtered,
      total: table.ItemCount,
      ask: async (from, limit) => {
        const answer = await dynamodb(
          asked.operation,
          { ...asked.input, Limit: limit, ExclusiveStartKey: from },
          signal,
        );
        return { items: answer.Items, scanned: answer.ScannedCount, next: answer.LastEvaluatedKey };
      },
      after: (item) => key_of(item, asked.key_names),
    },
    (items) => items_grid(items, keys, (item) => open_item(item), expires_by),
    ({ begins, at }) => remember(begins.length <= kept_pages_max ? { begins, at } : { begins: [null], at: 0 }),
  );
  const open_item = async (/** @type {Item} */ item) => {
    // Reads the item again, because an index may have only part of the item, and because the item may have changed.
    const answer = await dynamodb("GetItem", {
      TableName: table.TableName,
      Key: key_of(item, keys),
      ConsistentRead: true,
    }).catch((error) => tell(error));
    if (!answer) return;
    if (!answer.Item) {
      tell(new Error("This item no longer exists."));
      return pages.again();
    }
    edit_item(table, expires_by, answer.Item, () => pages.again());
  };
  const run = async () => {
    take();
    remember({ search: search.state() });
    await pages.first();
  };
  const form = element(
    "section",
    { class: "card stack", "aria-label": "Search" },
    search.node,
    element(
      "div",
      { class: "row middle" },
      button("Run", run, { class: "primary" }),
      button("Add a filter", search.add_filter),
      button("Copy as code", () => show_call(search.operation(), { ...search.input(), Limit: search.page_size() })),
      element("span", { class: "grow" }),
      button("New item", () => edit_item(table, expires_by, null, () => pages.again())),
    ),
  );
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target instanceof HTMLInputElement && event.target.type !== "radio")
      run().catch(tell);
  });
  const warning = suspects_card(ttl, open_item);
  if (warning) place.append(warning);
  place.append(form, found);
  const view = recalled();
  if (!view.search) return run();
  search.restore(view.search);
  take();
  await (view.begins ? pages.restore(/** @type {any} */ (view)) : pages.first());
}
