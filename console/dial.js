// The account's clock, as a dial.
import { badge, drawn, element, fill, moment } from "./elements.js";
import { clock, events, now } from "./server.js";

/** @param {AbortSignal} signal */
export function dial(signal) {
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
      real: "follows the server's clock",
      frozen: "stopped until you move it",
      offset: "runs at normal speed, at a different time",
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
