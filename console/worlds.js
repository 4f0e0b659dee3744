// The Accounts pane: the current account and region, snapshots, faults and metrics.
import { badge, button, counted, element, empty, fill, grid, intro, labelled, panel, part, tell } from "./elements.js";
import { confirmed } from "./dialogs.js";
import { draw_failpoints, draw_faults } from "./faults.js";
import { draw_plots } from "./plots.js";
import { choose, control, events, heard, world } from "./server.js";

const accounts_max = 200;

/** @param {HTMLElement} place @param {string[]} _path @param {AbortSignal} signal */
export async function show(place, _path, signal) {
  const accounts = panel("accounts", "half");
  const snapshots = panel("snapshots", "half");
  const faults = panel("faults", "half");
  const failpoints = panel("failpoints", "half");
  const plots = panel("plots", "whole");
  place.append(
    intro(
      "Accounts, snapshots, faults and metrics",
      "Switch to another account or region, save and restore an account's state, make operations fail, and watch the server.",
    ),
    element("div", { class: "grid" }, accounts, snapshots, faults, failpoints, plots),
  );
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
    if (!/^\d{12}$/.test(account.value.trim()))
      throw new Error(`Account must be twelve digits, got “${account.value.trim()}”.`);
    choose(account.value.trim(), region.value.trim());
  };
  const rows = accounts.slice(0, accounts_max).flatMap((/** @type {any} */ one) => {
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
          ? badge("current", "accent")
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
      "Each account has its own tables, streams and clock. A program uses an account by sending the account's twelve digits as the access key id.",
    ),
    grid("Accounts", ["Account", "Region", ["Tables", "right"], ["Snapshots", "right"], ""], rows),
    accounts.length > accounts_max
      ? element("p", { class: "dim small" }, `${counted(accounts.length - accounts_max)} more accounts.`)
      : null,
    world.key
      ? element("p", { class: "told" }, `Requests signed with the key ${world.key.id} use account ${world.account}.`)
      : element(
          "div",
          { class: "row" },
          labelled("Account", account),
          labelled("Region", region),
          button("Switch", use),
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
    tell(`Took snapshot ${id}.`);
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
              `This returns account ${world.account} to ${one.name ?? "snapshot " + one.id}: tables, items, streams and clock. Later changes are lost.`,
              "Restore",
            ))
          )
            return;
          const answer = await control("POST", `/snapshots/${one.id}/restore`, {});
          heard(answer);
          tell(`Restored. The clock is at ${answer.now}.`);
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
      labelled("Name (optional)", name, "grow"),
      button("Take a snapshot", take, { class: "primary" }),
    ),
    rows.length
      ? grid("Snapshots", ["Name", "Id", ""], rows)
      : empty("No snapshots yet. A snapshot saves the whole account and takes space only for later changes."),
    element(
      "div",
      { class: "row" },
      button(
        "Reset the account",
        async () => {
          if (
            !(await confirmed(
              `This deletes the tables, streams, snapshots, triggers and faults of account ${world.account}, and resets its clock.`,
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
