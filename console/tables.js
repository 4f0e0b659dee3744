// The Tables pane: a list of tables, and one table's items, PartiQL and schema.
import { badge, button, counted, element, failure, fill, labelled, repeat, sized, tell } from "./elements.js";
import { nothing_here } from "./connect.js";
import { create_table } from "./create_table.js";
import { items_pane } from "./items.js";
import { parse, sizes } from "./metrics.js";
import { link_to, page_of_names } from "./names.js";
import { partiql_pane } from "./partiql.js";
import { schema } from "./schema.js";
import { control, dynamodb, metrics, world } from "./server.js";
import { recalled, remember } from "./views.js";

const counts_every_ms = 4000;

/** @param {HTMLElement} place @param {string[]} path @param {AbortSignal} signal */
export async function show(place, path, signal) {
  const [name, tab = "items"] = path;
  const [{ list, empty }] = await Promise.all([side(name, signal)]);
  const body = element("div", { class: "stack" });
  place.append(element("div", { class: name ? "columns chosen" : "columns" }, list, body));
  if (name) return show_table(body, name, tab, signal);
  body.append(
    empty
      ? nothing_here()
      : element(
          "section",
          { class: "card empty" },
          element("h1", {}, "No table chosen"),
          element("p", {}, "Choose a table from the list."),
        ),
  );
}

// --- the list

/** @param {string | undefined} chosen @param {AbortSignal} signal */
async function side(chosen, signal) {
  /** @type {string[]} */
  let names = [];
  /** @type {string | undefined} */
  let after;
  let counts = sizes([], "", "");
  const search = element("input", {
    type: "search",
    placeholder: "Find a table",
    "aria-label": "Find a table",
    value: recalled().find,
  });
  const list = element("ul", {});
  const more = button("More tables", () => load(), { class: "small" });
  const load = async () => {
    const page = await page_of_names(after, signal);
    names.push(...page.names);
    after = page.after;
    draw();
  };
  const count = async () => {
    counts = sizes(parse(await metrics(signal)), world.account, world.region);
    draw();
  };
  const draw = () => {
    const wanted = search.value.toLowerCase();
    const found = names.filter((name) => name.toLowerCase().includes(wanted));
    const focused =
      document.activeElement instanceof HTMLAnchorElement && list.contains(document.activeElement)
        ? document.activeElement.getAttribute("href")
        : null;
    fill(
      list,
      found.map((name) => {
        const of = counts.get(name);
        return element(
          "li",
          {},
          element(
            "a",
            { href: link_to(name), "aria-current": name === chosen ? "page" : null },
            element("span", { class: "name", title: name }, name),
            element("span", { class: "count" }, of ? counted(of.items) : ""),
            element("span", { class: "small" }, of?.pending ? counted(of.pending) + " will expire" : ""),
            element("span", { class: "small right" }, of ? sized(of.bytes) : ""),
          ),
        );
      }),
    );
    if (!found.length)
      list.append(element("li", { class: "empty" }, names.length ? "No table has this name." : "No tables."));
    more.hidden = !after;
    if (focused) /** @type {HTMLElement | null} */ (list.querySelector(`a[href="${CSS.escape(focused)}"]`))?.focus();
  };
  search.addEventListener("input", async () => {
    remember({ find: search.value });
    draw();
    if (!after) return;
    try {
      // The name may be on a later page.
      while (after && !signal.aborted) await load();
    } catch (error) {
      tell(error);
    }
  });
  await Promise.all([load(), count()]);
  repeat(signal, counts_every_ms, count);
  return {
    empty: !names.length,
    list: element(
      "nav",
      { class: "card side", "aria-label": "Tables" },
      element(
        "div",
        { class: "row middle between" },
        element("h2", {}, "Tables"),
        button("New table", create_table, { class: "small" }),
      ),
      labelled("", search),
      list,
      more,
    ),
  };
}

// --- one table

/**
 * @param {HTMLElement} place @param {string} name @param {string} tab @param {AbortSignal} signal
 * @param {HTMLElement} [root] the element on the page, which a redrawn table replaces in one step
 */
async function show_table(place, name, tab, signal, root = place) {
  const back = element("a", { class: "back", href: "#/tables" }, "← All tables");
  let table, ttl;
  try {
    [table, ttl] = await Promise.all([
      dynamodb("DescribeTable", { TableName: name }, signal).then((answer) => answer.Table),
      control("GET", `/ttl/${encodeURIComponent(name)}`, undefined, signal),
    ]);
  } catch (error) {
    if (signal.aborted) throw error;
    return place.append(back, element("h1", {}, name), failure(error));
  }
  const tabs = [
    ["items", "Items"],
    ["partiql", "PartiQL"],
    ["schema", "Schema"],
  ];
  place.append(
    back,
    element(
      "div",
      { class: "row middle between" },
      element(
        "div",
        { class: "row middle" },
        element("h1", {}, name),
        table.TableStatus === "ACTIVE" ? null : badge(table.TableStatus, "time"),
        ttl.status === "ENABLED" ? badge("TTL: " + ttl.attribute, "time") : null,
        table.StreamSpecification?.StreamEnabled ? badge("stream", "accent") : null,
      ),
      element("span", { class: "dim" }, `${counted(table.ItemCount)} items, ${sized(table.TableSizeBytes)}`),
    ),
    element(
      "nav",
      { class: "tabs", "aria-label": "This table" },
      tabs.map(([own, text]) =>
        element("a", { href: link_to(name, own), "aria-current": own === tab ? "page" : null }, text),
      ),
    ),
  );
  if (tab === "schema") {
    const again = async () => {
      if (signal.aborted) return;
      const drawn = element("div", { class: "stack" });
      await show_table(drawn, name, tab, signal, root);
      root.replaceChildren(...drawn.childNodes);
    };
    return schema(place, table, ttl, signal, again);
  }
  if (tab === "partiql") return partiql_pane(place, table, signal);
  return items_pane(place, table, ttl, signal);
}
