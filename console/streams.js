// The Streams pane: live changes, a stream's changes from its oldest record, and shards.
import {
  button,
  choice,
  counted,
  element,
  empty,
  failure,
  fill,
  intro,
  panel,
  part,
  select,
  tell,
} from "./elements.js";
import { change_card } from "./changes.js";
import { follow, ServerAway } from "./server.js";
import { draw_shards } from "./shards.js";
import { StreamReader } from "./stream_reader.js";
import { all_names, link_to } from "./names.js";
import { recalled, remember } from "./views.js";

const changes_max = 200,
  shown_at_once = 50,
  filtered_at_once = 500,
  read_shown_max = 1000;

/** @param {HTMLElement} place @param {string[]} _path @param {AbortSignal} signal */
export async function show(place, _path, signal) {
  const shards = panel("shards", "whole");
  const names = await all_names(signal);
  place.append(
    intro("Streams", "Every change to an item, as it commits or from a stream's oldest record."),
    element("div", { class: "grid" }, changes(names, signal), shards),
  );
  await part(shards, signal, () => draw_shards(shards, names, signal));
}

/** @typedef {{ table: string, event: string, by: string }} Wanted */

/** @param {string[]} names @param {AbortSignal} signal */
function changes(names, signal) {
  const view = recalled();
  let way = view.way === "oldest" ? "oldest" : "live";
  const body = element("div", { class: "stack" });
  const again = () => {
    remember({ way, table: table.value, event: event.value, by: by.value });
    reading.abort();
    reading = new AbortController();
    const wanted = { table: table.value, event: event.value, by: by.value };
    fill(body);
    (way === "live" ? live : oldest)(body, wanted, reading.signal);
  };
  let reading = new AbortController();
  signal.addEventListener("abort", () => reading.abort());
  const table = select(
    [["", "all tables"], ...names.map((name) => /** @type {[string, string]} */ ([name, name]))],
    names.includes(view.table) ? view.table : "",
    { "aria-label": "Table", onchange: again },
  );
  const event = select([["", "all changes"], "INSERT", "MODIFY", "REMOVE"], view.event ?? "", {
    "aria-label": "Kind of change",
    onchange: again,
  });
  const by = select(
    [
      ["", "by anyone"],
      ["user", "by clients"],
      ["service", "by TTL"],
    ],
    view.by ?? "",
    { "aria-label": "Made by", onchange: again },
  );
  again();
  return element(
    "section",
    { class: "card whole stack", "aria-labelledby": "tail" },
    element(
      "div",
      { class: "row middle between" },
      element("h2", { id: "tail" }, "Changes"),
      element(
        "div",
        { class: "row middle" },
        choice(
          "Which changes",
          [
            ["live", "Live"],
            ["oldest", "From the oldest"],
          ],
          way,
          (chosen) => {
            way = chosen;
            again();
          },
        ),
        table,
        event,
        by,
      ),
    ),
    body,
  );
}

// --- live

/** @param {HTMLElement} place @param {Wanted} wanted @param {AbortSignal} signal */
async function live(place, wanted, signal) {
  const list = element("div", { class: "changes", "aria-live": "off" });
  const state = element("span", { class: "badge", role: "status" }, "…");
  /** The latest changes that are not shown yet. @type {any[]} */
  let held = [];
  let paused = false,
    seen = 0,
    due = false;
  const count = element("span", { class: "dim small" });
  const nothing = empty(
    "Nothing has changed since you opened this pane. Write an item or advance the clock. ",
    "“From the oldest” shows the records that the stream already has.",
  );
  // An advance of the clock may delete thousands of items at once. Only as many changes as fit in the list are drawn.
  const show_held = () => {
    due = false;
    fill(
      count,
      counted(seen) + (seen === 1 ? " change" : " changes") + (paused ? `, ${counted(held.length)} held` : ""),
    );
    if (paused || !held.length) return;
    nothing.remove();
    list.prepend(
      ...held
        .splice(0)
        .reverse()
        .map((change) => (change.dropped ? gap(change.dropped) : change_card(change))),
    );
    while (list.childElementCount > changes_max) list.lastElementChild?.remove();
  };
  const take = (/** @type {string} */ kind, /** @type {any} */ data) => {
    if (kind !== "gap") ++seen;
    held.push(data);
    if (held.length > changes_max) held.shift();
    if (!due) requestAnimationFrame(show_held);
    due = true;
  };
  const say = (/** @type {string} */ text, /** @type {string} */ kind) => {
    state.className = "badge " + kind;
    fill(state, text);
  };
  const pause = button("Pause", () => {
    paused = !paused;
    fill(pause, paused ? "Resume" : "Pause");
    show_held();
  });
  const clear = button("Clear", () => {
    fill(list, nothing);
    held = [];
    seen = 0;
    fill(count);
  });
  list.append(nothing);
  place.append(
    element("div", { class: "row middle" }, state, count, element("div", { class: "row end" }, pause, clear)),
    list,
  );
  const query = Object.entries(wanted)
    .filter(([, value]) => value)
    .map(([name, value]) => name + "=" + encodeURIComponent(value))
    .join("&");
  while (!signal.aborted) {
    try {
      await follow("/events" + (query ? "?" + query : ""), take, () => say("live", "good"), signal);
      say("ended", "bad");
    } catch (error) {
      if (signal.aborted) return;
      say("not connected", "bad");
      if (!(error instanceof ServerAway)) tell(error);
      if (/** @type {any} */ (error).status === 400) return;
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

/** @param {number} dropped */
const gap = (dropped) =>
  element(
    "div",
    { class: "error" },
    `${counted(dropped)} changes arrived faster than this page could read them and are not shown.`,
  );

// --- from the oldest

/** @param {any} record @param {Wanted} wanted */
function fits(record, { event, by }) {
  const service = record.userIdentity?.PrincipalId === "dynamodb.amazonaws.com";
  return (!event || record.eventName === event) && (!by || (by === "service") === service);
}

/** @param {HTMLElement} place @param {Wanted} wanted @param {AbortSignal} signal */
async function oldest(place, wanted, signal) {
  if (!wanted.table) return fill(place, empty("Choose a table above. Each table has its own stream."));
  const reader = new StreamReader(wanted.table, signal);
  const list = element("div", { class: "changes" }),
    said = element("span", { class: "dim small", role: "status" });
  const filtered = Boolean(wanted.event || wanted.by);
  /** Records that match the filter and are not shown yet. @type {any[]} */
  const found = [];
  let read = 0,
    shown = 0,
    stopped = false;
  const more = button("Read more", () => turn(), { class: "small" }),
    stop = button("Stop", () => void (stopped = true), { class: "small", hidden: true });
  const turn = async () => {
    let ended = false;
    stopped = false;
    while (found.length < shown_at_once && !ended && !stopped && !signal.aborted) {
      const records = await reader.next(filtered ? filtered_at_once : shown_at_once);
      ended = !records.length;
      read += records.length;
      found.push(...records.filter((record) => fits(record, wanted)));
      fill(said, `Reading: ${counted(read)} records, ${counted(shown + found.length)} found.`);
      stop.hidden = !filtered;
    }
    stop.hidden = true;
    const page = found.splice(0, shown_at_once);
    shown += page.length;
    list.append(...page.map((record) => change_card({ table: wanted.table, record })));
    while (list.childElementCount > read_shown_max) list.firstElementChild?.remove();
    ended &&= !found.length;
    fill(
      said,
      `${counted(read)} ${read === 1 ? "record" : "records"} read, oldest first`,
      read === shown ? "" : `, ${counted(shown)} shown`,
      ended ? ". This is the end of the stream." : stopped ? ", stopped." : ".",
    );
    if (ended && !shown)
      fill(
        list,
        empty(read ? "No record matches the filter." : "The stream is empty: nothing changed in the last 24 hours."),
      );
  };
  try {
    if (!(await reader.open()))
      return fill(
        place,
        empty(
          `The table ${wanted.table} has no stream. `,
          element("a", { href: link_to(wanted.table, "schema") }, "Turn it on under Schema"),
          ".",
        ),
      );
    place.append(
      element("div", { class: "row middle between" }, said, element("div", { class: "row" }, stop, more)),
      list,
    );
    await turn();
  } catch (error) {
    if (!signal.aborted) fill(place, failure(error));
  }
}
