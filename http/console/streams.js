// The pane of streams: changes as they commit, shards, and the functions that changes trigger.
import {
  badge,
  button,
  counted,
  element,
  failure,
  fill,
  grid,
  moment,
  panel,
  part,
  repeat,
  select,
  tell,
} from "./elements.js";
import { control, dynamodb, follow, ServerAway } from "./server.js";
import { all_names, link_to } from "./tables.js";
import { attribute, brief, key_text } from "./values.js";

const changes_max = 200,
  attributes_max = 60;

/** @param {HTMLElement} place @param {string[]} _path @param {AbortSignal} signal */
export async function show(place, _path, signal) {
  const shards = panel("shards", "whole");
  const triggers = panel("triggers", "whole");
  const names = await all_names(signal);
  place.append(element("div", { class: "grid" }, tail(names, signal), shards, triggers));
  const look = () => draw_triggers(triggers, signal);
  await Promise.all([part(shards, signal, () => draw_shards(shards, names, signal)), part(triggers, signal, look)]);
  repeat(signal, 3000, look);
}

// --- the live tail

/** @param {string[]} names @param {AbortSignal} signal */
function tail(names, signal) {
  const list = element("div", { class: "changes", "aria-live": "off" });
  const state = element("span", { class: "badge", role: "status" }, "…");
  const table = select(
    [["", "all tables"], ...names.map((name) => /** @type {[string, string]} */ ([name, name]))],
    "",
    { "aria-label": "Changes of", onchange: () => again() },
  );
  const event = select([["", "all changes"], "INSERT", "MODIFY", "REMOVE"], "", {
    "aria-label": "Which changes",
    onchange: () => again(),
  });
  const by = select(
    [
      ["", "anybody"],
      ["user", "users"],
      ["service", "TTL"],
    ],
    "",
    { "aria-label": "Made by", onchange: () => again() },
  );
  /** Changes that are not shown yet: the last of them. @type {any[]} */
  let held = [];
  let paused = false,
    seen = 0,
    due = false;
  let reading = new AbortController();
  const count = element("span", { class: "dim small" });
  const empty = element(
    "div",
    { class: "empty" },
    "Nothing has changed since this was opened. Write something, or let time pass.",
  );
  // Thousands may come at once, when time is moved: those that nobody could see are not drawn.
  const show_held = () => {
    due = false;
    fill(
      count,
      counted(seen) + (seen === 1 ? " change" : " changes") + (paused ? `, ${counted(held.length)} held` : ""),
    );
    if (paused || !held.length) return;
    empty.remove();
    list.prepend(
      ...held
        .splice(0)
        .reverse()
        .map(({ dropped, ...change }) =>
          dropped
            ? element(
                "div",
                { class: "error" },
                `${counted(dropped)} changes came faster than they were read, and are not shown.`,
              )
            : change_card(/** @type {any} */ (change)),
        ),
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
  const again = async () => {
    reading.abort();
    reading = new AbortController();
    say("…", "");
    const own = reading.signal;
    const query = [
      ["table", table.value],
      ["event", event.value],
      ["by", by.value],
    ]
      .filter(([, value]) => value)
      .map(([name, value]) => name + "=" + encodeURIComponent(value))
      .join("&");
    while (!own.aborted && !signal.aborted) {
      try {
        await follow("/events" + (query ? "?" + query : ""), take, () => say("live", "good"), own);
        say("ended", "bad");
      } catch (error) {
        if (own.aborted) return;
        say("not connected", "bad");
        if (!(error instanceof ServerAway)) tell(error);
        if (/** @type {any} */ (error).status === 400) return;
      }
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  };
  signal.addEventListener("abort", () => reading.abort());
  again();
  list.append(empty);
  const pause = button("Pause", () => {
    paused = !paused;
    fill(pause, paused ? "Go on" : "Pause");
    show_held();
  });
  return element(
    "section",
    { class: "card whole stack", "aria-labelledby": "tail" },
    element(
      "div",
      { class: "row middle between" },
      element("div", { class: "row middle" }, element("h2", { id: "tail" }, "Changes"), state, count),
      element(
        "div",
        { class: "row middle" },
        table,
        event,
        by,
        pause,
        button("Clear", () => {
          fill(list, empty);
          held = [];
          seen = 0;
          fill(count);
        }),
      ),
    ),
    list,
  );
}

/** @param {any} data */
function change_card({ table, record }) {
  const { Keys = {}, OldImage, NewImage, ApproximateCreationDateTime } = record.dynamodb;
  const expired = record.userIdentity?.PrincipalId === "dynamodb.amazonaws.com";
  const card = element(
    "details",
    { class: `change ${record.eventName} fresh ${expired ? "expired" : ""}` },
    element(
      "summary",
      {},
      expired ? badge("EXPIRED", "time") : badge(record.eventName, record.eventName),
      element("b", {}, table),
      element("span", { class: "key" }, key_text(Keys)),
      element("span", { class: "dim small" }, changed_text(OldImage, NewImage)),
      element(
        "span",
        { class: "dim small nowrap" },
        ApproximateCreationDateTime === undefined ? "" : moment(ApproximateCreationDateTime * 1000),
      ),
    ),
  );
  // The images are drawn when they are looked at.
  card.addEventListener("toggle", () => {
    if (!card.open || card.querySelector(".images")) return;
    card.append(
      element(
        "div",
        { class: "images" },
        image("Old", OldImage, NewImage, "old"),
        image("New", NewImage, OldImage, "new"),
      ),
    );
    if (expired)
      card.append(
        element(
          "div",
          { class: "small dim" },
          element(
            "p",
            { class: "told" },
            "The service deleted it: its TTL had passed (userIdentity dynamodb.amazonaws.com).",
          ),
        ),
      );
  });
  return card;
}

/** @param {any} old_image @param {any} new_image */
function changed_text(old_image, new_image) {
  if (!old_image || !new_image) return "";
  const names = [...new Set([...Object.keys(old_image), ...Object.keys(new_image)])].filter(
    (name) => JSON.stringify(attribute(old_image, name)) !== JSON.stringify(attribute(new_image, name)),
  );
  return names.length
    ? names
        .slice(0, 3)
        .map((name) =>
          [attribute(old_image, name), attribute(new_image, name)]
            .map((value) => (value ? brief(value, 24) : "–"))
            .join(" → "),
        )
        .map((text, at) => names[at] + ": " + text)
        .join(", ") + (names.length > 3 ? ", …" : "")
    : "";
}

/** @param {string} title @param {any} item @param {any} other @param {string} side */
function image(title, item, other, side) {
  if (!item)
    return element(
      "div",
      { class: side },
      element("h3", { class: "dim" }, title),
      element("p", { class: "dim" }, "none"),
    );
  const names = Object.keys(item).sort();
  const rows = names.slice(0, attributes_max).map((name) => {
    const differs =
      other &&
      (!Object.hasOwn(other, name)
        ? "only"
        : JSON.stringify(other[name]) !== JSON.stringify(item[name])
          ? "differs"
          : "");
    return element(
      "tr",
      { class: differs || null },
      element("td", {}, name),
      element("td", { class: Object.keys(item[name])[0] }, brief(item[name], 300)),
    );
  });
  return element(
    "div",
    { class: side },
    element("h3", { class: "dim" }, title),
    element("table", {}, element("tbody", {}, rows)),
    names.length > attributes_max
      ? element("p", { class: "dim small" }, `${names.length - attributes_max} more attributes`)
      : null,
  );
}

// --- shards

/** @param {HTMLElement} place @param {string[]} names @param {AbortSignal} signal */
async function draw_shards(place, names, signal) {
  const found = element("div", { class: "stack" });
  const show_of = async (/** @type {string} */ name) => {
    if (!name) return fill(found, element("div", { class: "empty" }, "No tables."));
    try {
      const answer = await control("GET", `/streams/${encodeURIComponent(name)}/shards`, undefined, signal);
      const act = async (/** @type {string} */ what, /** @type {any} */ body) => {
        await control("POST", `/streams/${encodeURIComponent(name)}/${what}`, body);
        await show_of(name);
      };
      fill(
        found,
        element(
          "div",
          { class: "row middle" },
          element("code", { class: "small dim grow" }, answer.stream),
          button("Split all", () => act("split", {}), { class: "small" }),
          button("Roll all", () => act("roll", {}), { class: "small" }),
        ),
        grid(
          "Shards",
          ["Shard", "Parent", "", ""],
          answer.shards.map((/** @type {any} */ shard) => [
            element("code", { class: "nowrap" }, shard.id),
            element("code", { class: "nowrap dim" }, shard.parent ?? "–"),
            badge(shard.open ? "open" : "closed", shard.open ? "good" : ""),
            shard.open
              ? element(
                  "span",
                  { class: "row" },
                  button("Split", () => act("split", { shard: shard.id }), { class: "small" }),
                  button("Roll", () => act("roll", { shard: shard.id }), { class: "small" }),
                )
              : null,
          ]),
        ),
      );
    } catch (error) {
      if (!signal.aborted) fill(found, failure(error));
    }
  };
  const table = select(names, names[0], { onchange: () => show_of(table.value), "aria-label": "Shards of" });
  fill(place, element("div", { class: "row middle" }, element("h2", { id: "shards" }, "Shards"), table), found);
  // The first that has a stream.
  const described = await Promise.all(
    names.slice(0, 12).map((name) =>
      dynamodb("DescribeTable", { TableName: name }, signal).then(
        (answer) => answer.Table,
        () => null,
      ),
    ),
  );
  const first = described.find((one) => one?.StreamSpecification?.StreamEnabled)?.TableName ?? names[0];
  if (first) table.value = first;
  await show_of(first);
}

// --- triggers

/** @param {HTMLElement} place @param {AbortSignal} signal */
async function draw_triggers(place, signal) {
  const { triggers } = await control("GET", "/triggers", undefined, signal);
  const rows = triggers.map((/** @type {any} */ one) => {
    const bad = one.last_result.startsWith("PROBLEM");
    return [
      element("b", {}, one.function),
      element("a", { href: link_to(one.table) }, one.table),
      badge(one.state, one.state === "Enabled" ? "good" : ""),
      element(
        "span",
        {},
        badge(bad ? "problem" : one.last_result, bad ? "bad" : ""),
        bad ? element("div", { class: "small" }, one.last_result.replace("PROBLEM: ", "")) : null,
      ),
      one.last_batch
        ? element(
            "span",
            {},
            `${counted(one.last_batch.records)} records`,
            element("div", { class: "small dim nowrap" }, moment(Date.parse(one.last_batch.at))),
          )
        : "–",
      `${counted(one.batches)} / ${counted(one.records)}`,
      element(
        "span",
        {},
        counted(one.failures),
        one.last_failure
          ? element(
              "div",
              { class: "small dim" },
              [one.last_failure.status || "no answer", one.last_failure.error].filter(Boolean).join(" "),
            )
          : null,
      ),
      counted(one.retries),
      counted(one.given_up),
    ];
  });
  const scrolled = place.querySelector(".scroll")?.scrollLeft ?? 0;
  fill(
    place,
    element("h2", { id: "triggers" }, "Triggers"),
    rows.length
      ? grid(
          "Triggers",
          [
            "Function",
            "Table",
            "State",
            "Last result",
            "Last batch",
            ["Batches / records", "right"],
            ["Failures", "right"],
            ["Retries", "right"],
            ["Given up", "right"],
          ],
          rows,
        )
      : element(
          "div",
          { class: "empty" },
          "No event source mapping reads a stream here. Lambda's CreateEventSourceMapping makes one.",
        ),
  );
  const scroll = place.querySelector(".scroll");
  if (scroll) scroll.scrollLeft = scrolled;
}
