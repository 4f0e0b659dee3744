// The Time pane: the account's clock, upcoming expiries, and why an item has not expired.
import {
  button,
  counted,
  element,
  empty,
  failure,
  fill,
  grid,
  intro,
  labelled,
  moment,
  panel,
  part,
  repeat,
  select,
  spanned,
  tell,
} from "./elements.js";
import { advanced } from "./advanced.js";
import { dial } from "./dial.js";
import { explain } from "./item.js";
import { clock, control, events, heard, now } from "./server.js";
import { draw_suspects } from "./suspects.js";
import { link_to } from "./names.js";
import { draw_line, spans } from "./timeline.js";
import { seconds_of } from "./ttl.js";
import { key_text, parsed } from "./values.js";

const due_max = 12,
  tables_asked_max = 12;

/** @param {HTMLElement} place @param {string[]} _path @param {AbortSignal} signal */
export async function show(place, _path, signal) {
  heard(await control("GET", "/clock", undefined, signal));
  const line = panel("line", "whole");
  const due = panel("due", "two-thirds");
  const modes = panel("modes", "whole");
  const never = panel("never", "whole");
  let span = localStorage.getItem("span") ?? "1 d";
  if (!Object.hasOwn(spans, span)) span = "1 d";
  let drawing = Promise.resolve();
  const look = async () => {
    const ttl = (await control("GET", "/ttl?window_seconds=" + spans[span][1], undefined, signal)).tables;
    fill(
      names,
      Object.keys(ttl).map((name) => element("option", { value: name })),
    );
    draw_line(
      line,
      ttl,
      span,
      (chosen) => {
        span = chosen;
        localStorage.setItem("span", span);
        again().catch(tell);
      },
      (to) => advance({ to: new Date(to).toISOString() }),
    );
    await draw_due(due, ttl, signal);
    if (!never.contains(document.activeElement)) draw_suspects(never, ttl);
    draw_modes(modes, ttl, again);
  };
  // Runs one redraw at a time, so that an earlier response never overwrites a later one.
  const again = () => (drawing = drawing.catch(() => {}).then(look));
  const said = element("div", { role: "status" }),
    names = element("datalist", { id: "names-of-tables" });
  const advance = async (/** @type {any} */ by) => {
    const options = { settle: settle.checked ? "triggers" : undefined, age_streams: ages.checked || undefined };
    const answer = await control("POST", "/clock/advance", { ...by, ...options }, signal);
    heard(answer);
    fill(said, advanced(answer));
    await again();
  };
  const settle = element("input", { type: "checkbox" }),
    ages = element("input", { type: "checkbox" });
  place.append(
    intro("Time", "The account's clock and the items that expire by it. All times are UTC."),
    element(
      "div",
      { class: "grid" },
      element(
        "section",
        { class: "card whole stack", "aria-label": "Clock" },
        element("div", { class: "clockwork" }, dial(signal), controls(advance, again, settle, ages, signal)),
        said,
      ),
      line,
      due,
      element(
        "div",
        { class: "third stack" },
        element("section", { class: "card", "aria-labelledby": "why" }, explain_form(), names),
        element(
          "section",
          { class: "card" },
          element("h2", {}, "Precision"),
          element(
            "p",
            { class: "dim" },
            "An item is gone from the first millisecond after its TTL. An advance stops at each such instant, and returns once the items are deleted from tables and indexes and their stream records can be read.",
          ),
        ),
      ),
      never,
      modes,
    ),
  );
  await part(line, signal, again);
  // The pane is redrawn, because a running clock brings items closer to expiry and because other clients write.
  repeat(signal, 3000, async () => place.contains(document.querySelector(".bar:focus, .bar.picked")) || again());
}

// --- moving the clock

/**
 * @param {(by: any) => Promise<void>} advance @param {() => Promise<void>} again
 * @param {HTMLInputElement} settle @param {HTMLInputElement} ages @param {AbortSignal} signal
 */
function controls(advance, again, settle, ages, signal) {
  const put = async (/** @type {any} */ body) => {
    heard(await control("PUT", "/clock", body));
    await again();
  };
  const rate = element("input", {
    type: "number",
    min: 0.001,
    step: "any",
    value: clock.mode === "rate" ? clock.rate : 60,
    "aria-label": "Rate",
    class: "short",
  });
  const at = element("input", {
    placeholder: "2031-01-01T00:00:00Z",
    "aria-label": "Time to set, in UTC",
    class: "mono",
    size: 22,
    spellcheck: "false",
  });
  // The box follows the clock until the user edits the box.
  let suggested = "";
  const suggest = () => {
    if (at.value === suggested) at.value = suggested = new Date(now()).toISOString().slice(0, 19) + "Z";
  };
  suggest();
  events.addEventListener("clock", suggest, { signal });
  const by = element("input", {
    placeholder: "90s, 15m, 48h, 2d",
    "aria-label": "Advance by",
    class: "mono",
    size: 18,
    spellcheck: "false",
  });
  const by_hand = () => {
    const seconds = seconds_of(by.value);
    if (seconds === null)
      throw new Error(`“${by.value}” is not a duration. Use a duration such as 90s, 15m, 48h, 2d or 1h30m.`);
    return advance({ seconds });
  };
  const entered = (/** @type {() => Promise<void>} */ act) => (/** @type {KeyboardEvent} */ event) =>
    event.key === "Enter" && act().catch(tell);
  const set = () => put({ now: at.value.trim() });
  at.addEventListener("keydown", entered(set));
  by.addEventListener(
    "keydown",
    entered(async () => by_hand()),
  );
  return element(
    "div",
    { class: "stack grow" },
    element(
      "div",
      { class: "row middle" },
      button("Freeze", () => put({ mode: "frozen" })),
      button("Real time", () => put({ mode: "real" })),
      element(
        "span",
        { class: "row middle" },
        button("Run at", () => put({ mode: "rate", rate: Number(rate.value) })),
        rate,
        element("span", { class: "dim" }, "times"),
      ),
      element("span", { class: "row middle" }, at, button("Set", set)),
    ),
    element(
      "div",
      { class: "row middle" },
      element("b", {}, "Advance"),
      button("+ 1 h", () => advance({ seconds: 3600 })),
      button("+ 1 d", () => advance({ seconds: 86400 })),
      button("To the next expiry", () => advance({ to: "next-expiry" }), { class: "primary" }),
      element("span", { class: "row middle" }, by, button("Advance", by_hand)),
    ),
    element(
      "div",
      { class: "row middle" },
      labelled("Wait for triggered functions", settle),
      labelled("Also age stream records", ages),
    ),
  );
}

// --- upcoming expiries

/** @param {HTMLElement} place @param {Record<string, any>} ttl @param {AbortSignal} signal */
async function draw_due(place, ttl, signal) {
  const next = Object.entries(ttl)
    .filter(([, of]) => of.next_due)
    .sort((a, b) => Date.parse(a[1].next_due) - Date.parse(b[1].next_due));
  // Items in the tables beyond tables_asked_max are not due before this time.
  const horizon = next[tables_asked_max] ? Date.parse(next[tables_asked_max][1].next_due) : Infinity;
  const lists = await Promise.all(
    next.slice(0, tables_asked_max).map(async ([name]) => {
      const answer = await control(
        "GET",
        `/ttl/${encodeURIComponent(name)}/upcoming?limit=${due_max}`,
        undefined,
        signal,
      ).catch((error) => {
        if (error.status === 404) return { items: [] }; // the table was deleted in the meantime
        throw error;
      });
      return answer.items.map((/** @type {any} */ item) => ({ ...item, table: name, at: Date.parse(item.due) }));
    }),
  );
  const items = lists
    .flat()
    .filter((item) => item.at <= horizon)
    .sort((a, b) => a.at - b.at)
    .slice(0, due_max);
  const said = place.querySelector(".said") ?? element("div", { class: "said" });
  const rows = items.map((item) => [
    element("a", { href: link_to(item.table) }, item.table),
    element("td", { class: "value", title: key_text(item.key) }, key_text(item.key)),
    element("span", { class: "nowrap" }, moment(item.at)),
    element("span", { class: "nowrap" }, item.expires_at ? spanned(Date.parse(item.expires_at) - now()) : "at the next sweep"),
    button("Explain", async () => fill(/** @type {HTMLElement} */ (said), await explain(item.table, item.key)), {
      class: "small",
    }),
  ]);
  fill(
    place,
    element("h2", { id: "due" }, "Due next"),
    said,
    items.length
      ? grid("Items that are due next", ["Table", "Key", "Due", "Deleted", ""], rows)
      : empty("Nothing will expire: no item has a TTL in the future."),
  );
}

/** @param {HTMLElement} place @param {Record<string, any>} ttl @param {() => Promise<void>} again */
function draw_modes(place, ttl, again) {
  if (place.contains(document.activeElement)) return; // a select is open there
  const rows = Object.entries(ttl)
    .filter(([, of]) => of.status === "ENABLED")
    .map(([name, of]) => {
      const mode = select(["exact", "aws", "manual"], of.mode, {
        "aria-label": "Mode of " + name,
        onchange: () =>
          control("PUT", "/ttl/" + encodeURIComponent(name), { mode: mode.value }).then(
            () => tell(`${name}: ${mode.value}.`),
            tell,
          ),
      });
      return [
        element("a", { href: link_to(name) }, name),
        element("code", {}, of.attribute),
        mode,
        counted(of.pending),
        counted(of.due),
        counted(of.expired),
        `${of.lag_ms.p50} / ${of.lag_ms.p99} / ${of.lag_ms.max} ms`,
        button(
          "Sweep",
          async () => {
            const { expired } = await control("POST", `/ttl/${encodeURIComponent(name)}/sweep`, {});
            tell(`${name}: ${counted(expired)} expired.`);
            await again();
          },
          { class: "small" },
        ),
      ];
    });
  fill(
    place,
    element("h2", { id: "modes" }, "Tables with TTL"),
    rows.length
      ? grid(
          "Tables with TTL",
          [
            "Table",
            "Attribute",
            "Mode",
            ["Pending", "right"],
            ["Due", "right"],
            ["Expired", "right"],
            "Lag: p50 / p99 / max",
            "",
          ],
          rows,
        )
      : empty("No table has TTL. Turn it on under a table's Schema."),
  );
}

function explain_form() {
  const table = element("input", { placeholder: "carts", spellcheck: "false", list: "names-of-tables" }),
    key = element("input", { placeholder: '{"id":{"S":"1"}}', class: "mono", spellcheck: "false" });
  const said = element("div", { role: "status" });
  const ask = async () => {
    try {
      fill(said, await explain(table.value, parsed(key.value, "Key", '{"id": {"S": "1"}}')));
    } catch (error) {
      fill(said, failure(error));
    }
  };
  key.addEventListener("keydown", (event) => event.key === "Enter" && ask());
  return element(
    "div",
    { class: "stack" },
    element("h2", { id: "why" }, "Why has it not expired?"),
    labelled("Table", table),
    labelled("Key", key),
    element("div", {}, button("Explain", ask)),
    said,
  );
}
