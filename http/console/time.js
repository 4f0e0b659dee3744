// The pane of time: the account's clock, what expires when, and why an item is still there.
import {
  badge,
  button,
  choice,
  counted,
  drawn,
  element,
  failure,
  fill,
  grid,
  labelled,
  moment,
  panel,
  part,
  repeat,
  select,
  spanned,
  tell,
} from "./elements.js";
import { clock, control, events, heard, now } from "./server.js";
import { explain } from "./items.js";
import { link_to } from "./tables.js";
import { key_text } from "./values.js";

/** How much the time-line shows, and how long a bar of it is, in seconds. */
const spans = /** @type {Record<string, [number, number]>} */ ({
  "1 h": [3600, 60],
  "1 d": [86400, 900],
  "7 d": [7 * 86400, 7200],
  "30 d": [30 * 86400, 28800],
  "1 y": [365 * 86400, 4 * 86400],
});
const due_max = 12,
  tables_asked_max = 12,
  lanes_max = 14;

/** @param {string} text "90", "90s", "15m", "48h", "2d", "1h30m" */
export function seconds_of(text) {
  const parts = [...text.trim().matchAll(/(\d+(?:\.\d+)?)\s*([smhd]?)/gy)];
  if (!parts.length || parts.reduce((sum, part) => sum + part[0].length, 0) !== text.trim().length) return null;
  const units = /** @type {Record<string, number>} */ ({ "": 1, s: 1, m: 60, h: 3600, d: 86400 });
  return parts.reduce((sum, part) => sum + Number(part[1]) * units[part[2]], 0);
}

/** @param {HTMLElement} place @param {string[]} _path @param {AbortSignal} signal */
export async function show(place, _path, signal) {
  heard(await control("GET", "/clock", undefined, signal));
  const line = panel("line", "whole");
  const due = panel("due", "two-thirds");
  const modes = panel("modes", "whole");
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
    draw_modes(modes, ttl, again);
  };
  // One after the other: the last that is drawn is the last that was asked.
  const again = () => (drawing = drawing.catch(() => {}).then(look));
  const said = element("div", { role: "status" }),
    names = element("datalist", { id: "names-of-tables" });
  const advance = async (/** @type {any} */ by) => {
    const options = { settle: settle.checked ? "triggers" : undefined, age_streams: ages.checked || undefined };
    const answer = await control("POST", "/clock/advance", { ...by, ...options }, signal);
    heard(answer);
    const where = Object.entries(answer.tables ?? {})
      .map(([name, count]) => `${name} ${counted(count)}`)
      .join(", ");
    fill(
      said,
      element(
        "p",
        { class: "told" },
        `It is ${moment(Date.parse(answer.now))}. `,
        answer.message ? answer.message + " " : "",
        `Expired: ${counted(answer.expired)}${where ? " (" + where + ")" : ""}.`,
        answer.next_expiry ? ` Next: ${moment(Date.parse(answer.next_expiry))}.` : "",
        answer.settled === false ? " Not all functions are done: " + JSON.stringify(answer.unfinished) : "",
      ),
    );
    await again();
  };
  const settle = element("input", { type: "checkbox" }),
    ages = element("input", { type: "checkbox" });
  place.append(
    element(
      "div",
      { class: "grid" },
      element(
        "section",
        { class: "card whole stack", "aria-label": "Clock" },
        element("div", { class: "clockwork" }, dial(signal), controls(advance, again, settle, ages)),
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
          element("h2", {}, "To the millisecond"),
          element(
            "p",
            { class: "dim" },
            "An item is gone from the first millisecond after the second that its TTL names, by this clock. An advance stops at every such instant, and answers when the items are gone from tables and indexes and their records can be read.",
          ),
        ),
      ),
      modes,
    ),
  );
  await part(line, signal, again);
  // Time that runs brings what is due nearer; a clock that stands still has nothing new to show but what others do.
  repeat(signal, 3000, async () => place.contains(document.querySelector(".bar:focus, .bar.picked")) || again());
}

// --- the dial

/** @param {AbortSignal} signal */
function dial(signal) {
  const hand = (/** @type {string} */ kind, /** @type {number} */ length) =>
    drawn("line", { class: kind, x1: 0, y1: kind === "second" ? 14 : 0, x2: 0, y2: -length });
  const hands = { hour: hand("hour", 42), minute: hand("minute", 62), second: hand("second", 70) };
  const ticks = Array.from({ length: 12 }, (_, at) =>
    drawn("line", { class: "tick", x1: 0, y1: -86, x2: 0, y2: at % 3 ? -80 : -74, transform: `rotate(${at * 30})` }),
  );
  const text = element("div", { class: "now" }),
    about = element("div", { class: "row middle" });
  const whole = element(
    "div",
    { class: "dial" },
    drawn(
      "svg",
      { viewBox: "-100 -100 200 200", "aria-hidden": "true" },
      drawn("circle", { class: "face", r: 92 }),
      ticks,
      hands.hour,
      hands.minute,
      hands.second,
      drawn("circle", { class: "hub", r: 4.5 }),
    ),
    element("div", { class: "stack" }, text, about),
  );
  const draw = () => {
    const at = now(),
      seconds = (at / 1000) % 86400;
    const turn = (/** @type {SVGElement} */ what, /** @type {number} */ degrees) =>
      what.setAttribute("transform", `rotate(${degrees.toFixed(2)})`);
    turn(hands.hour, ((seconds / 3600) % 12) * 30);
    turn(hands.minute, ((seconds / 60) % 60) * 6);
    turn(hands.second, Math.floor(seconds % 60) * 6);
    const shown = moment(clock.mode === "frozen" ? at : Math.floor(at / 1000) * 1000) + " UTC";
    if (text.textContent !== shown) fill(text, shown);
    whole.classList.toggle("frozen", clock.mode === "frozen");
  };
  const describe = () => {
    const sentences = /** @type {Record<string, string>} */ ({
      real: "runs as this machine's does",
      frozen: "stands still until it is moved",
      offset: "runs as fast as this machine's, but elsewhere",
      rate: `runs ${clock.rate} times as fast`,
    });
    fill(
      about,
      badge(clock.mode, clock.mode === "frozen" ? "blue" : clock.mode === "real" ? "" : "time"),
      element("span", { class: "dim" }, sentences[clock.mode]),
    );
    draw();
  };
  describe();
  const timer = setInterval(draw, 100);
  events.addEventListener("clock", describe, { signal });
  signal.addEventListener("abort", () => clearInterval(timer));
  return whole;
}

/** @param {(by: any) => Promise<void>} advance @param {() => Promise<void>} again @param {HTMLInputElement} settle @param {HTMLInputElement} ages */
function controls(advance, again, settle, ages) {
  const put = async (/** @type {any} */ body) => {
    heard(await control("PUT", "/clock", body));
    await again();
  };
  const rate = element("input", {
    type: "number",
    min: 0.001,
    step: "any",
    value: clock.mode === "rate" ? clock.rate : 60,
    "aria-label": "How many times as fast",
    class: "short",
  });
  const at = element("input", {
    placeholder: "2031-01-01T00:00:00Z",
    "aria-label": "Time to set, in UTC",
    class: "mono",
    size: 22,
    spellcheck: "false",
    value: new Date(now()).toISOString().slice(0, 19) + "Z",
  });
  const by = element("input", {
    placeholder: "90s, 15m, 48h, 2d",
    "aria-label": "Advance by",
    class: "mono",
    size: 14,
    spellcheck: "false",
  });
  const by_hand = () => {
    const seconds = seconds_of(by.value);
    if (seconds === null) throw new Error(`“${by.value}” is no duration: 90s, 15m, 48h, 2d.`);
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
      button("Run as real", () => put({ mode: "real" })),
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
      labelled("Wait for functions and all else that follows", settle),
      labelled("Streams age, too", ages),
    ),
  );
}

// --- what expires when

/** @param {string} window "FROM_UNTIL" */
const bounds = (window) => window.split("_").map((time) => Date.parse(time));

/**
 * @param {HTMLElement} place @param {Record<string, any>} ttl @param {string} span
 * @param {(span: string) => void} chosen @param {(to: number) => Promise<void>} advance_to
 */
function draw_line(place, ttl, span, chosen, advance_to) {
  const [seconds] = spans[span],
    from = now(),
    until = from + seconds * 1000;
  const lanes = Object.entries(ttl)
    .map(([name, of]) => ({
      name,
      of,
      windows: of.windows
        .map((/** @type {any} */ one) => ({ bounds: bounds(one.window), count: one.count }))
        .filter((/** @type {any} */ one) => one.bounds[1] > from - 1 && one.bounds[0] < until),
    }))
    .filter(({ of }) => of.status === "ENABLED")
    .sort((a, b) => Number(b.windows.length > 0) - Number(a.windows.length > 0) || (a.name < b.name ? -1 : 1));
  const shown = lanes.slice(0, lanes_max);
  const narrow = (place.clientWidth || innerWidth) < 620;
  const width = Math.max(300, Math.min(1360, (place.clientWidth || innerWidth - 40) - 36));
  const left = narrow ? 4 : 150,
    lane_height = narrow ? 46 : 34,
    top = 4,
    height = top + shown.length * lane_height + 24;
  const x = (/** @type {number} */ ms) =>
    left + ((Math.min(Math.max(ms, from), until) - from) / (until - from)) * (width - left - 8);
  const most = Math.max(1, ...shown.flatMap(({ windows }) => windows.map((/** @type {any} */ one) => one.count)));
  const picked = element(
    "div",
    { role: "status", class: "row middle" },
    element(
      "span",
      { class: "dim" },
      shown.some(({ windows }) => windows.length) ? "Choose a bar to see what it holds." : "",
    ),
  );
  const parts = [];
  for (let at = 0; at <= 4; ++at) {
    const ms = from + ((until - from) * at) / 4,
      text = moment(ms);
    parts.push(drawn("line", { class: "rule", x1: x(ms), x2: x(ms), y1: top, y2: height - 20 }));
    if (narrow && at % 2) continue;
    parts.push(
      drawn(
        "text",
        { x: x(ms), y: height - 5, "text-anchor": at === 0 ? "start" : at === 4 ? "end" : "middle" },
        seconds <= 86400 ? text.slice(11, 16) : seconds <= 40 * 86400 ? text.slice(5, 16) : text.slice(0, 10),
      ),
    );
  }
  shown.forEach(({ name, of, windows }, lane) => {
    const base = top + (lane + 1) * lane_height - 4,
      tall = lane_height - (narrow ? 20 : 8);
    parts.push(drawn("line", { class: "rule", x1: left, x2: width - 8, y1: base, y2: base }));
    const label = name.length > 20 && !narrow ? name.slice(0, 19) + "…" : name;
    parts.push(
      narrow
        ? drawn("text", { class: "name", x: left, y: base - tall - 4 }, label + " · " + counted(of.pending))
        : drawn("text", { class: "name", x: 0, y: base - 10 }, label, drawn("title", {}, name)),
    );
    if (!narrow) parts.push(drawn("text", { x: 0, y: base + 3 }, counted(of.pending) + " pending"));
    for (const {
      bounds: [begin, end],
      count,
    } of windows) {
      const bar_height = Math.max(3, tall * Math.sqrt(count / most)),
        begins = x(begin);
      const about = `${name}: ${counted(count)} between ${moment(begin)} and ${moment(end)}`;
      const pick = () => {
        place.querySelector(".bar.picked")?.classList.remove("picked");
        bar.classList.add("picked");
        fill(
          picked,
          element("b", {}, name),
          `${counted(count)} expire between ${moment(begin)} and ${moment(end)}.`,
          button("Advance to the end of it", () => advance_to(end), { class: "small" }),
        );
      };
      const bar = drawn(
        "rect",
        {
          class: "bar",
          x: begins,
          y: base - bar_height,
          width: Math.max(2.5, x(end) - begins - 1),
          height: bar_height,
          rx: 1,
          tabindex: 0,
          role: "button",
          "aria-label": about,
          onclick: pick,
          onkeydown: (/** @type {KeyboardEvent} */ event) =>
            (event.key === "Enter" || event.key === " ") && (event.preventDefault(), pick()),
        },
        drawn("title", {}, about),
      );
      parts.push(bar);
    }
  });
  parts.push(drawn("line", { class: "present", x1: left, x2: left, y1: top, y2: height - 20 }));
  const heading = element(
    "div",
    { class: "row middle between" },
    element("h2", { id: "line" }, "What expires when"),
    choice(
      "Span",
      Object.keys(spans).map((own) => [own, own]),
      span,
      chosen,
    ),
  );
  if (!lanes.length)
    return fill(
      place,
      heading,
      element("div", { class: "empty" }, "No table here has TTL. UpdateTimeToLive switches it on."),
    );
  const rows = lanes.flatMap(({ name, windows }) =>
    windows.map((/** @type {any} */ one) => [name, moment(one.bounds[0]), moment(one.bounds[1]), counted(one.count)]),
  );
  fill(
    place,
    heading,
    drawn(
      "svg",
      {
        class: "timeline",
        viewBox: `0 0 ${width} ${height}`,
        role: "group",
        "aria-label": "Time-line: a bar for each window in which items expire",
      },
      parts,
    ),
    picked,
    lanes.length > shown.length
      ? element(
          "p",
          { class: "dim small" },
          `${lanes.length - shown.length} more tables have TTL; the table below has them all.`,
        )
      : null,
    element(
      "details",
      {},
      element("summary", {}, "The same as a table"),
      grid("What expires when", ["Table", "From", "Until", ["Items", "right"]], rows.slice(0, 300)),
    ),
  );
}

/** @param {HTMLElement} place @param {Record<string, any>} ttl @param {AbortSignal} signal */
async function draw_due(place, ttl, signal) {
  const next = Object.entries(ttl)
    .filter(([, of]) => of.next_due)
    .sort((a, b) => Date.parse(a[1].next_due) - Date.parse(b[1].next_due));
  // What a table that is not asked has begins no earlier than this.
  const horizon = next[tables_asked_max] ? Date.parse(next[tables_asked_max][1].next_due) : Infinity;
  const lists = await Promise.all(
    next.slice(0, tables_asked_max).map(async ([name]) => {
      const answer = await control(
        "GET",
        `/ttl/${encodeURIComponent(name)}/upcoming?limit=${due_max}`,
        undefined,
        signal,
      ).catch((error) => {
        if (error.status === 404) return { items: [] }; // dropped meanwhile
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
    element(
      "span",
      { class: "nowrap" },
      item.expires_at ? spanned(Date.parse(item.expires_at) - now()) : "when it is swept",
    ),
    button("Explain", async () => fill(/** @type {HTMLElement} */ (said), await explain(item.table, item.key)), {
      class: "small",
    }),
  ]);
  fill(
    place,
    element("h2", { id: "due" }, "Due next"),
    said,
    items.length
      ? grid("Items that are due next", ["Table", "Key", "Due", "Goes", ""], rows)
      : element("div", { class: "empty" }, "Nothing is going to expire."),
  );
}

/** @param {HTMLElement} place @param {Record<string, any>} ttl @param {() => Promise<void>} again */
function draw_modes(place, ttl, again) {
  if (place.contains(document.activeElement)) return; // somebody chooses there
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
            "Lag: p50 / p99 / most",
            "",
          ],
          rows,
        )
      : element("div", { class: "empty" }, "None."),
  );
}

function explain_form() {
  const table = element("input", { placeholder: "carts", spellcheck: "false", list: "names-of-tables" }),
    key = element("input", { placeholder: '{"id":{"S":"1"}}', class: "mono", spellcheck: "false" });
  const said = element("div", { role: "status" });
  const ask = async () => {
    try {
      fill(said, await explain(table.value, JSON.parse(key.value)));
    } catch (error) {
      fill(said, failure(error));
    }
  };
  key.addEventListener("keydown", (event) => event.key === "Enter" && ask());
  return element(
    "div",
    { class: "stack" },
    element("h2", { id: "why" }, "Why is it still there?"),
    labelled("Table", table),
    labelled("Its key", key),
    element("div", {}, button("Explain", ask)),
    said,
  );
}
