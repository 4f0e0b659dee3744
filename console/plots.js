// Plots of the server's metrics, sampled every second since the pane was opened.
import { counted, drawn, element, fill, grid, repeat, sized } from "./elements.js";
import { parse } from "./metrics.js";
import { metrics } from "./server.js";

const plot_points_max = 60,
  plot_every_ms = 1000;

/** @param {HTMLElement} place @param {AbortSignal} signal */
export async function draw_plots(place, signal) {
  /** @type {Record<string, { title: string, unit: (value: number) => string, points: number[], kind: string }>} */
  const kinds = {
    requests: {
      title: "Operations per second",
      unit: (value) => counted(Math.round(value * 10) / 10),
      points: [],
      kind: "",
    },
    latency: {
      title: "Mean latency",
      unit: (value) => (value < 1 ? Math.round(value * 1000) + " µs" : value.toFixed(1) + " ms"),
      points: [],
      kind: "",
    },
    errors: { title: "Errors per second", unit: (value) => counted(Math.round(value * 10) / 10), points: [], kind: "" },
    expiries: {
      title: "Expiries per second",
      unit: (value) => counted(Math.round(value * 10) / 10),
      points: [],
      kind: "time",
    },
    lag: { title: "Mean expiry lag", unit: (value) => Math.round(value) + " ms", points: [], kind: "time" },
    pending: { title: "Items that will expire", unit: (value) => counted(value), points: [], kind: "time" },
    memory: { title: "Memory for stored data", unit: sized, points: [], kind: "" },
    connections: { title: "Connections", unit: (value) => counted(value), points: [], kind: "" },
  };
  /** @type {{ at: number, sums: Record<string, number> } | null} */
  let last = null;
  const drawn_plots = element("div", { class: "plots" }),
    table = element("details", {});
  fill(
    place,
    element(
      "div",
      { class: "row middle between" },
      element("h2", { id: "plots" }, "Metrics"),
      element(
        "span",
        { class: "dim small" },
        "Metrics of the whole server for each second since you opened this pane. All metrics: ",
        element("a", { href: "/_mayfly/metrics" }, "/_mayfly/metrics"),
      ),
    ),
    drawn_plots,
    table,
  );
  const look = async () => {
    const samples = parse(await metrics(signal)),
      at = performance.now();
    const sum = (/** @type {string} */ name) =>
      samples.reduce((total, one) => (one.name === name ? total + one.value : total), 0);
    const sums = {
      operations: sum("mayfly_operation_duration_seconds_count"),
      seconds: sum("mayfly_operation_duration_seconds_sum"),
      errors: sum("mayfly_operation_errors_total"),
      expired: sum("TimeToLiveDeletedItemCount"),
      lag: sum("mayfly_expiry_lag_seconds_sum"),
      lagging: sum("mayfly_expiry_lag_seconds_count"),
    };
    if (last) {
      const seconds = (at - last.at) / 1000,
        before = last.sums,
        rise = (/** @type {keyof typeof sums} */ name) => Math.max(0, sums[name] - before[name]);
      const add = (/** @type {string} */ name, /** @type {number} */ value) => {
        kinds[name].points.push(value);
        if (kinds[name].points.length > plot_points_max) kinds[name].points.shift();
      };
      add("requests", rise("operations") / seconds);
      add("latency", rise("operations") ? (rise("seconds") / rise("operations")) * 1000 : 0);
      add("errors", rise("errors") / seconds);
      add("expiries", rise("expired") / seconds);
      add("lag", rise("lagging") ? (rise("lag") / rise("lagging")) * 1000 : 0);
      add("pending", sum("mayfly_expiry_pending"));
      add("memory", sum("mayfly_memory_bytes"));
      add("connections", sum("mayfly_connections"));
    }
    last = { at, sums };
    fill(drawn_plots, Object.values(kinds).map(plot));
    if (table.open && table.contains(document.activeElement)) return;
    const of = (/** @type {string} */ name, /** @type {string} */ operation) =>
      samples
        .filter((one) => one.name === name && one.labels.operation === operation)
        .reduce((total, one) => total + one.value, 0);
    const operations = [
      ...new Set(
        samples
          .filter((one) => one.name === "mayfly_operation_duration_seconds_count")
          .map((one) => one.labels.operation),
      ),
    ];
    fill(
      table,
      element("summary", {}, "Operations since the server started"),
      grid(
        "Operations",
        ["Operation", ["Calls", "right"], ["Mean", "right"], ["Errors", "right"]],
        operations.map((operation) => {
          const count = of("mayfly_operation_duration_seconds_count", operation);
          return [
            operation,
            counted(count),
            ((of("mayfly_operation_duration_seconds_sum", operation) / count) * 1000).toFixed(2) + " ms",
            counted(of("mayfly_operation_errors_total", operation)),
          ];
        }),
      ),
    );
  };
  await look();
  repeat(signal, plot_every_ms, look);
}

/** @param {{ title: string, unit: (value: number) => string, points: number[], kind: string }} of */
function plot({ title, unit, points, kind }) {
  const width = 200,
    height = 46,
    most = Math.max(...points, 1e-9);
  const place = (/** @type {number} */ value, /** @type {number} */ at) =>
    `${((plot_points_max - points.length + at) / (plot_points_max - 1)) * width},${height - 3 - (value / most) * (height - 8)}`;
  const line = points.map(place).join(" ");
  const first = ((plot_points_max - points.length) / (plot_points_max - 1)) * width;
  return element(
    "figure",
    { class: ("plot " + kind).trim() },
    element("figcaption", { class: "dim small" }, title),
    element("div", { class: "figure" }, points.length ? unit(points[points.length - 1]) : "…"),
    drawn(
      "svg",
      {
        viewBox: `0 0 ${width} ${height}`,
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": points.length
          ? `${title}: now ${unit(points[points.length - 1])}, at most ${unit(most <= 1e-9 ? 0 : most)}`
          : title,
      },
      points.length > 1
        ? [
            drawn("polygon", { class: "area", points: `${first},${height} ${line} ${width},${height}` }),
            drawn("polyline", { class: "stroke", points: line, "vector-effect": "non-scaling-stroke" }),
          ]
        : [],
    ),
  );
}
