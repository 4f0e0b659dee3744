// The pane of worlds: which account, its snapshots, what fails on purpose, and what the server counts.
import {
  badge,
  button,
  confirmed,
  counted,
  drawn,
  element,
  failure,
  fill,
  grid,
  labelled,
  panel,
  part,
  repeat,
  select,
  sized,
  tell,
} from "./elements.js";
import { parse } from "./metrics.js";
import { choose, control, events, heard, metrics, world } from "./server.js";
import { key_text } from "./values.js";

const plot_points_max = 60,
  plot_every_ms = 1000;

/** @param {HTMLElement} place @param {string[]} _path @param {AbortSignal} signal */
export async function show(place, _path, signal) {
  const accounts = panel("accounts", "half");
  const snapshots = panel("snapshots", "half");
  const faults = panel("faults", "half");
  const failpoints = panel("failpoints", "half");
  const plots = panel("plots", "whole");
  place.append(element("div", { class: "grid" }, accounts, snapshots, faults, failpoints, plots));
  /** @type {[HTMLElement, (place: HTMLElement, signal: AbortSignal) => Promise<void>][]} */
  const parts = [
    [accounts, draw_accounts],
    [snapshots, draw_snapshots],
    [faults, draw_faults],
    [failpoints, draw_failpoints],
    [plots, draw_plots],
  ];
  await Promise.all(parts.map(([part_of, draw]) => part(part_of, signal, () => draw(part_of, signal))));
}

// --- accounts

/** @param {HTMLElement} place @param {AbortSignal} signal */
async function draw_accounts(place, signal) {
  const { accounts } = await control("GET", "/accounts", undefined, signal);
  const account = element("input", {
    value: world.account,
    class: "mono",
    size: 14,
    spellcheck: "false",
    inputmode: "numeric",
  });
  const region = element("input", { value: world.region, class: "mono", size: 14, spellcheck: "false" });
  const use = () => {
    if (!/^\d{12}$/.test(account.value.trim())) throw new Error("An account has twelve digits.");
    choose(account.value.trim(), region.value.trim());
  };
  const rows = accounts.slice(0, 200).flatMap((/** @type {any} */ one) => {
    const regions = Object.entries(one.tables);
    if (!regions.length) regions.push([world.region, 0]);
    return regions.map(([name, count]) => {
      const here = one.account === world.account && name === world.region;
      return [
        element("code", {}, one.account),
        element("span", { class: "nowrap" }, name),
        counted(Number(count)),
        counted(one.snapshots),
        here
          ? badge("here", "accent")
          : button("Use", () => choose(one.account, name), {
              class: "small",
              "aria-label": `Use account ${one.account} in ${name}`,
            }),
      ];
    });
  });
  fill(
    place,
    element("h2", { id: "accounts" }, "Accounts"),
    element(
      "p",
      { class: "dim" },
      "An account is a world: its own tables, streams and clock. A program is in it that signs with its twelve digits as access key id.",
    ),
    grid("Accounts", ["Account", "Region", ["Tables", "right"], ["Snapshots", "right"], ""], rows),
    accounts.length > 200
      ? element("p", { class: "dim small" }, `${counted(accounts.length - 200)} more accounts.`)
      : null,
    world.key
      ? element("p", { class: "told" }, `What is signed with the key ${world.key.id} is of account ${world.account}.`)
      : element(
          "div",
          { class: "row" },
          labelled("Another account", account),
          labelled("Region", region),
          button("Go there", use),
        ),
  );
}

// --- snapshots

/** @param {HTMLElement} place @param {AbortSignal} signal */
async function draw_snapshots(place, signal) {
  const { snapshots } = await control("GET", "/snapshots", undefined, signal);
  const again = () => draw_snapshots(place, signal);
  const name = element("input", { placeholder: "fixtures", spellcheck: "false" });
  const take = async () => {
    const { id } = await control("POST", "/snapshots", name.value.trim() ? { name: name.value.trim() } : {});
    tell(`Snapshot ${id} was taken.`);
    await again();
  };
  name.addEventListener("keydown", (event) => event.key === "Enter" && take().catch(tell));
  const rows = snapshots.reverse().map((/** @type {any} */ one) => [
    element("b", {}, one.name ?? "–"),
    element("code", {}, one.id),
    element(
      "span",
      { class: "row" },
      button(
        "Restore",
        async () => {
          if (
            !(await confirmed(
              `Account ${world.account} becomes what it was when ${one.name ?? "snapshot " + one.id} was taken: tables, items, streams, clock.`,
              "Restore",
            ))
          )
            return;
          const answer = await control("POST", `/snapshots/${one.id}/restore`, {});
          heard(answer);
          tell(`Restored; it is ${answer.now}.`);
          events.dispatchEvent(new Event("world"));
        },
        { class: "small", "aria-label": `Restore ${one.name ?? one.id}` },
      ),
      button(
        "Delete",
        async () => {
          await control("DELETE", "/snapshots/" + one.id, {});
          await again();
        },
        { class: "small danger", "aria-label": `Delete ${one.name ?? one.id}` },
      ),
    ),
  ]);
  fill(
    place,
    element("h2", { id: "snapshots" }, "Snapshots"),
    element(
      "div",
      { class: "row" },
      labelled("Name, if it is to have one", name, "grow"),
      button("Take a snapshot", take, { class: "primary" }),
    ),
    rows.length
      ? grid("Snapshots", ["Name", "Id", ""], rows)
      : element(
          "div",
          { class: "empty" },
          "None. A snapshot is all of the account, and copies nothing until something changes.",
        ),
    element(
      "div",
      { class: "row" },
      button(
        "Reset the account",
        async () => {
          if (
            !(await confirmed(
              `Account ${world.account} loses its tables, streams, snapshots, mappings and faults; its clock begins anew.`,
              "Reset the account",
            ))
          )
            return;
          heard(await control("POST", "/reset", {}));
          events.dispatchEvent(new Event("world"));
        },
        { class: "danger small" },
      ),
    ),
  );
}

// --- faults

const fault_kinds = [
  "throttle",
  "internal_server_error",
  "latency",
  "unprocessed",
  "transaction_conflict",
  "stale_reads",
  "replicated_write_conflict",
];

/** @param {HTMLElement} place @param {AbortSignal} signal */
async function draw_faults(place, signal) {
  const list = element("div", {});
  /** @type {any[]} */
  let bare = [];
  const look = async () => {
    /** @type {{ rules: any[] }} */
    const { rules } = await control("GET", "/faults", undefined, signal);
    bare = rules.map(({ asked, struck, ...rule }) => rule);
    if (list.contains(document.activeElement) && list.querySelectorAll("tbody tr").length === rules.length) return;
    fill(
      list,
      rules.length
        ? grid(
            "Faults",
            ["Fault", "Of", "How", ["Struck", "right"], ""],
            rules.map((rule, at) => [
              badge(rule.fault, "bad"),
              [rule.operation, rule.table].filter(Boolean).join(" on ") || "everything",
              details(rule),
              `${counted(rule.struck)} of ${counted(rule.asked)}`,
              button("Remove", () => put(bare.filter((_, other) => other !== at)), {
                class: "small",
                "aria-label": "Remove the fault " + rule.fault,
              }),
            ]),
          )
        : element("div", { class: "empty" }, "Nothing fails on purpose."),
    );
  };
  const put = async (/** @type {any[]} */ next) => {
    await (next.length ? control("PUT", "/faults", { rules: next }) : control("DELETE", "/faults", {}));
    await look();
  };
  const kind = select(fault_kinds, "throttle", { onchange: () => fit() });
  const operation = element("input", { placeholder: "any operation", spellcheck: "false" }),
    table = element("input", { placeholder: "any table", spellcheck: "false" });
  const number = (/** @type {string} */ placeholder) =>
    element("input", { type: "number", min: 0, step: "any", placeholder });
  const fields = {
    count: number("always"),
    probability: number("1"),
    milliseconds: number("200"),
    writes: number("1"),
    items: number("all"),
    seed: number("0"),
  };
  const rows = {
    milliseconds: labelled("Milliseconds", fields.milliseconds),
    writes: labelled("Writes behind", fields.writes),
    items: labelled("Items left", fields.items),
  };
  const fit = () => {
    rows.milliseconds.hidden = !["latency", "stale_reads"].includes(kind.value);
    rows.writes.hidden = kind.value !== "stale_reads";
    rows.items.hidden = kind.value !== "unprocessed";
  };
  fit();
  const add = () => {
    /** @type {Record<string, any>} */
    const rule = { fault: kind.value };
    if (operation.value.trim()) rule.operation = operation.value.trim();
    if (table.value.trim()) rule.table = table.value.trim();
    for (const [name, control] of Object.entries(fields))
      if (control.value !== "" && !control.closest("label")?.hidden) rule[name] = Number(control.value);
    return put([...bare, rule]);
  };
  const details = (/** @type {any} */ { fault, operation, table, asked, struck, ...others }) =>
    Object.entries(others)
      .map(([name, value]) => `${name} ${JSON.stringify(value)}`)
      .join(", ");
  fill(
    place,
    element("h2", { id: "faults" }, "Faults"),
    list,
    element(
      "div",
      { class: "fields" },
      labelled("Fault", kind),
      labelled("Operation", operation),
      labelled("Table", table),
      Object.values(rows),
      labelled("How often", fields.count),
      labelled("Probability", fields.probability),
      labelled("Seed", fields.seed),
      button("Add", add, { class: "primary" }),
    ),
  );
  await look();
  repeat(signal, 2000, look);
}

// --- failpoints

/** @param {HTMLElement} place @param {AbortSignal} signal */
async function draw_failpoints(place, signal) {
  const list = element("div", {});
  const again = async () => {
    const { failpoints } = await control("GET", "/failpoints", undefined, signal);
    all.hidden = failpoints.length < 2;
    fill(
      list,
      failpoints.length
        ? grid(
            "Failpoints",
            ["Table", "Key", "State", ""],
            failpoints.map((/** @type {any} */ one) => [
              one.table,
              element("td", { class: "value" }, key_text(one.key)),
              badge(one.state, one.state === "waiting" ? "time" : "blue"),
              button(
                "Release",
                async () => {
                  await control("DELETE", "/failpoints", { table: one.table, key: one.key });
                  await again();
                },
                { class: "small" },
              ),
            ]),
          )
        : element("div", { class: "empty" }, "None is armed."),
    );
  };
  const all = button("Release all", async () => {
    await control("DELETE", "/failpoints", {});
    await again();
  });
  const table = element("input", { placeholder: "carts", spellcheck: "false" }),
    key = element("input", { placeholder: '{"id":{"S":"1"}}', class: "mono", spellcheck: "false" });
  const said = element("div", {});
  const arm = async () => {
    try {
      await control("PUT", "/failpoints", { table: table.value, key: JSON.parse(key.value) });
      await again();
    } catch (error) {
      fill(said, failure(error));
    }
  };
  fill(
    place,
    element("h2", { id: "failpoints" }, "Failpoints"),
    element(
      "p",
      { class: "dim" },
      "A failpoint holds an item's expiry between the moment it is due and its deletion: the time to renew it, and see who wins.",
    ),
    list,
    element(
      "div",
      { class: "row" },
      labelled("Table", table, "grow"),
      labelled("The item's key", key, "grow"),
      button("Arm", arm, { class: "primary" }),
      all,
    ),
    said,
  );
  await again();
  repeat(signal, 2000, async () => list.contains(document.activeElement) || again());
}

// --- plots

/** @param {HTMLElement} place @param {AbortSignal} signal */
async function draw_plots(place, signal) {
  /** @type {Record<string, { title: string, unit: (value: number) => string, points: number[], kind: string }>} */
  const kinds = {
    requests: {
      title: "Operations a second",
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
    errors: { title: "Errors a second", unit: (value) => counted(Math.round(value * 10) / 10), points: [], kind: "" },
    expiries: {
      title: "Expiries a second",
      unit: (value) => counted(Math.round(value * 10) / 10),
      points: [],
      kind: "time",
    },
    lag: { title: "Mean lag of expiries", unit: (value) => Math.round(value) + " ms", points: [], kind: "time" },
    pending: { title: "Items that will expire", unit: (value) => counted(value), points: [], kind: "time" },
    memory: { title: "Memory of what is stored", unit: sized, points: [], kind: "" },
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
        "of the whole server, each second since this was opened; all of them: ",
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
      element("summary", {}, "Operations since the start"),
      grid(
        "Operations",
        ["Operation", ["Times", "right"], ["Mean", "right"], ["Errors", "right"]],
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
