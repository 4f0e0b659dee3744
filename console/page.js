// The page: the current pane, the bar at the top, and the notice that is shown while the server does not respond.
import { button, element, failure, fill, labelled, moment } from "./elements.js";
import * as backups from "./backups.js";
import { dialog } from "./dialogs.js";
import { clock, control, events, greet, heard, now, world, ServerAway } from "./server.js";
import * as tables from "./tables.js";
import * as time from "./time.js";
import * as streams from "./streams.js";
import * as triggers from "./triggers.js";
import { dialogs_open, forget, recalled, remember } from "./views.js";
import * as worlds from "./worlds.js";

/** @type {Record<string, { show(place: HTMLElement, path: string[], signal: AbortSignal): Promise<void> }>} */
const panes = { tables, time, streams, triggers, backups, worlds };
const titles = /** @type {Record<string, string>} */ ({ worlds: "Accounts" });
const clock_every_ms = 2000,
  scroll_rests_ms = 200;
const by_id = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const main = by_id("main");
let shown = new AbortController();

/** @param {boolean} [moved] whether the user chose another pane */
async function show(moved) {
  shown.abort();
  shown = new AbortController();
  const { signal } = shown,
    { hash } = location,
    { scroll = 0 } = recalled();
  main.setAttribute("aria-busy", "true");
  const [name, ...path] = location.hash
    .slice(2)
    .split("/")
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
  const pane = Object.hasOwn(panes, name) ? name : "tables";
  for (const link of document.querySelectorAll("header nav a"))
    link.getAttribute("href") === "#/" + pane
      ? link.setAttribute("aria-current", "page")
      : link.removeAttribute("aria-current");
  const title = titles[pane] ?? pane[0].toUpperCase() + pane.slice(1);
  document.title = (path[0] ? path[0] + " – " : "") + title + " – Mayfly";
  const place = element("div", {});
  try {
    const drawn = panes[pane].show(place, path, signal);
    // A pane that draws quickly replaces the old pane in a single step. A slow pane is shown while it is being drawn.
    await Promise.race([drawn, new Promise((resolve) => setTimeout(resolve, 150))]);
    if (signal.aborted) return;
    fill(main, place);
    if (moved) {
      scrollTo(0, 0);
      main.focus({ preventScroll: true });
    }
    await drawn;
    if (moved && scroll && !signal.aborted) scrollTo(0, scroll);
  } catch (error) {
    if (signal.aborted) return;
    fill(main, place, failure(error));
  }
  if (signal.aborted) return;
  main.removeAttribute("aria-busy");
  main.dataset.shows = hash;
}

let scrolled = 0;
addEventListener("scroll", () => {
  clearTimeout(scrolled);
  if (main.hasAttribute("aria-busy") || dialogs_open()) return;
  scrolled = setTimeout(() => main.hasAttribute("aria-busy") || remember({ scroll: scrollY }), scroll_rests_ms);
});

// --- the bar

const mode_texts = { real: "real time", frozen: "frozen", offset: "offset", rate: "× " };
function show_clock() {
  const chip = by_id("clock");
  const [mode, text] = [
    /** @type {HTMLElement} */ (chip.querySelector(".mode")),
    /** @type {HTMLElement} */ (chip.querySelector("time")),
  ];
  const said =
    clock.mode === "rate" ? "× " + clock.rate : /** @type {Record<string, string>} */ (mode_texts)[clock.mode];
  const at = moment(Math.floor(now() / 1000) * 1000);
  if (mode.textContent !== said) mode.textContent = said;
  if (text.textContent !== at) text.textContent = at;
}

function show_world() {
  fill(by_id("world"), element("span", {}, world.account), element("span", { class: "dim region" }, world.region));
}

let away = false;
async function watch() {
  try {
    if (document.visibilityState === "visible" || away) heard(await control("GET", "/clock"));
  } catch (error) {
    if (!(error instanceof ServerAway)) show_clock();
  }
  setTimeout(watch, away ? 1000 : clock_every_ms);
}

events.addEventListener("away", () => {
  if (away) return;
  away = true;
  by_id("away").hidden = false;
  fill(
    by_id("away"),
    "The server does not respond. This page shows the last data and retries every second.",
  );
});
events.addEventListener("here", () => {
  if (!away) return;
  away = false;
  by_id("away").hidden = true;
  if (locked === "declined") offer_key();
  show();
});
events.addEventListener("clock", show_clock);
events.addEventListener("world", () => {
  forget();
  show_world();
  control("GET", "/clock").then(heard, () => {});
  show();
});

// --- a server that requires signatures

/** After "declined", the page does not ask for a key again, but the bar has a button for it. */
let locked = /** @type {"" | "asked" | "declined"} */ ("");
events.addEventListener("locked", (event) => {
  if (!locked) ask_for_key(/** @type {CustomEvent} */ (event).detail);
});

/** @param {Error | null} refusal why the last key was rejected */
function ask_for_key(refusal) {
  locked = "asked";
  const id = element("input", { autocomplete: "off", spellcheck: "false", autofocus: true });
  const secret = element("input", { type: "password", autocomplete: "off" });
  const token = element("input", { type: "password", autocomplete: "off" });
  const can = Boolean(globalThis.crypto?.subtle);
  let signed = false;
  const sign = () => {
    signed = true;
    world.key = { id: id.value.trim(), secret: secret.value.trim(), token: token.value.trim() };
    // The key decides which account the operations use.
    world.account = /^\d{12}$/.test(world.key.id) ? world.key.id : "000000000000";
    asked.close();
  };
  const asked = dialog(
    "This server requires signatures",
    [
      element(
        "p",
        {},
        "The server was started with --require-signature. Enter one of its access keys. The page signs requests with the key and forgets it when you close or reload the page.",
      ),
      can
        ? null
        : element("p", { class: "error" }, "Browsers can sign only on https:// pages and on this machine (localhost)."),
      world.key && refusal ? failure(refusal) : null,
      labelled("Access key id", id),
      labelled("Secret access key", secret),
      labelled("Session token (optional)", token),
    ],
    [button("Sign", sign, { class: "primary", disabled: !can })],
    "narrow",
  );
  asked.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target instanceof HTMLInputElement && can) sign();
  });
  asked.addEventListener("close", () => {
    locked = signed ? "" : "declined";
    by_id("away").hidden = true;
    if (signed) events.dispatchEvent(new Event("world"));
    else offer_key();
  });
}

function offer_key() {
  by_id("away").hidden = false;
  fill(
    by_id("away"),
    "This server requires signatures. ",
    button("Enter a key", () => ask_for_key(null), { class: "small" }),
  );
}

// --- light and dark

const preferred = matchMedia("(prefers-color-scheme: dark)");
function dress() {
  const theme = localStorage.getItem("theme") ?? (preferred.matches ? "dark" : "light");
  document.documentElement.dataset.theme = theme;
  const other = theme === "dark" ? "light" : "dark";
  fill(by_id("theme"), theme === "dark" ? "☀" : "☾");
  by_id("theme").setAttribute("aria-label", `Use the ${other} theme`);
  by_id("theme").title = `Use the ${other} theme`;
}
by_id("theme").addEventListener("click", () => {
  localStorage.setItem("theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  dress();
});
preferred.addEventListener("change", dress);

// --- keys: 1 to 6 choose a pane, / goes to the search box

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || dialogs_open()) return;
  if (event.target instanceof Element && event.target.matches("input, textarea, select")) return;
  const names = Object.keys(panes);
  if (event.key >= "1" && event.key <= String(names.length)) location.hash = "#/" + names[Number(event.key) - 1];
  const search = /** @type {HTMLElement | null} */ (main.querySelector("input[type=search]"));
  if (event.key === "/" && search) {
    event.preventDefault();
    search.focus();
  }
});

addEventListener("hashchange", () => show(true));
dress();
greet()
  .catch(() => {})
  .finally(() => {
    show_world();
    show();
    watch();
    setInterval(show_clock, 250);
  });
