// The timeline: for every table with TTL, a bar for each window in which items expire.
import { button, choice, counted, drawn, element, empty, fill, grid, moment } from "./elements.js";
import { now } from "./server.js";

/** The length of the timeline and of one bar, in seconds. */
export const spans = /** @type {Record<string, [number, number]>} */ ({
  "1 h": [3600, 60],
  "1 d": [86400, 900],
  "7 d": [7 * 86400, 7200],
  "30 d": [30 * 86400, 28800],
  "1 y": [365 * 86400, 4 * 86400],
});
const lanes_max = 14;

/** @param {string} window "FROM_UNTIL" */
const bounds = (window) => window.split("_").map((time) => Date.parse(time));

/**
 * @param {HTMLElement} place @param {Record<string, any>} ttl @param {string} span
 * @param {(span: string) => void} chosen @param {(to: number) => Promise<void>} advance_to
 */
export function draw_line(place, ttl, span, chosen, advance_to) {
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
      shown.some(({ windows }) => windows.length) ? "Choose a bar to see how many items expire in its window." : "",
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
          `${counted(count)} items expire between ${moment(begin)} and ${moment(end)}.`,
          button("Advance to its end", () => advance_to(end), { class: "small" }),
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
  if (!lanes.length) return fill(place, heading, empty("No table has TTL. Turn it on under a table's Schema."));
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
        "aria-label": "Timeline: a bar for each window in which items expire",
      },
      parts,
    ),
    picked,
    lanes.length > shown.length
      ? element(
          "p",
          { class: "dim small" },
          `${lanes.length - shown.length} more tables have TTL. “Show as a table” has all of them.`,
        )
      : null,
    element(
      "details",
      {},
      element("summary", {}, "Show as a table"),
      grid("What expires when", ["Table", "From", "Until", ["Items", "right"]], rows.slice(0, 300)),
    ),
  );
}
