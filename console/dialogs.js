// Dialogs. Escape, the button in the corner and the browser's Back button close a dialog and remove it from the page.
import { button, element, failure, fill } from "./elements.js";
import { opened } from "./views.js";

let dialogs = 0;

/**
 * @param {string} title
 * @param {import("./elements.js").Child[]} body
 * @param {import("./elements.js").Child[]} foot
 * @param {string} [kind]
 */
export function dialog(title, body, foot, kind = "") {
  const id = "title" + ++dialogs;
  const made = element(
    "dialog",
    { class: kind || null, "aria-labelledby": id, onclose: () => made.remove() },
    element(
      "div",
      { class: "row middle between" },
      element("h2", { id }, title),
      element(
        "button",
        { type: "button", class: "quiet small", "aria-label": "Close", onclick: () => made.close() },
        "✕",
      ),
    ),
    element("div", { class: "body" }, body),
    foot.some(Boolean) ? element("div", { class: "foot" }, foot) : null,
  );
  document.body.append(made);
  made.showModal();
  opened(made);
  return made;
}

/**
 * A dialog with a form. It closes when `act` succeeds, and shows the error when `act` fails.
 * @param {string} title
 * @param {import("./elements.js").Child[]} body
 * @param {string} yes the label of the button that calls `act`
 * @param {() => Promise<unknown>} act
 * @param {() => unknown} [done] called after the dialog has closed
 */
export function form_dialog(title, body, yes, act, done) {
  const wrong = element("div", {});
  const made = dialog(
    title,
    [...body, wrong],
    [
      button(
        yes,
        async () => {
          fill(wrong);
          try {
            await act();
          } catch (error) {
            return fill(wrong, failure(error));
          }
          made.close();
          await done?.();
        },
        { class: "primary" },
      ),
    ],
    "narrow",
  );
  return made;
}

/**
 * @param {string} question
 * @param {string} yes the label of the button that confirms
 * @returns {Promise<boolean>}
 */
export function confirmed(question, yes) {
  return new Promise((resolve) => {
    let answer = false;
    const made = dialog(
      yes + "?",
      [element("p", {}, question)],
      [
        button("Cancel", () => made.close()),
        button(yes, () => ((answer = true), made.close()), { class: "danger", autofocus: true }),
      ],
      "narrow",
    );
    made.addEventListener("close", () => resolve(answer));
  });
}
