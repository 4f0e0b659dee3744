// The browser's history. The Back button closes the topmost dialog, and restores a view as the user left it.
//
//   remember({ query })      the view of this history entry, which recalled() returns when the entry is shown again
//   opened(dialog)           adds an entry, so that Back closes the dialog
//   visit("#/tables/carts")  closes every dialog, then goes there
//
// An entry's state is { depth, view }: the number of open dialogs, and the pane's view. Moving in the history is asynchronous,
// so steps run one after another (`settled`).

const view_bytes_max = 100_000,
  traversal_ms_max = 1000;

/** The open dialogs; the topmost dialog is the last element. @type {HTMLDialogElement[]} */
const open = [];
/** A view that is not in the history yet, and the hash of its entry. @type {{ hash: string, view: Record<string, any> } | null} */
let due = null;
let settled = Promise.resolve();
let moving = false;

const depth = () => /** @type {number} */ (history.state?.depth ?? 0);

/** @param {any} changes */
function rewrite(changes) {
  try {
    history.replaceState({ ...history.state, ...changes }, "");
  } catch {
    // Browsers limit how often a page may call replaceState. Beyond that limit, views are not stored and cannot be restored.
  }
}

/**
 * Goes back in the history. If the user chooses another pane before the browser has gone back, going back leaves that pane. In that
 * case, returns the pane's hash, so that the caller can visit the pane again; otherwise returns "".
 * @param {number} entries how far to go back, as a negative number
 * @returns {Promise<string>}
 */
function go_back(entries) {
  const from = location.hash;
  let chosen = "";
  moving = true;
  return new Promise((resolve) => {
    const done = () => {
      removeEventListener("popstate", popped);
      clearTimeout(timer);
      moving = false;
      resolve(chosen === location.hash ? "" : chosen);
    };
    // A dialog's entry has the same pane as the entry below it.
    const popped = () => (location.hash === from ? done() : (chosen = location.hash));
    const timer = setTimeout(done, traversal_ms_max);
    addEventListener("popstate", popped);
    history.go(entries);
  });
}

/** Makes the history match the dialogs that are open, then stores the view in the history. */
async function reconcile() {
  while (depth() !== open.length) {
    if (depth() < open.length) {
      history.pushState({ ...history.state, depth: depth() + 1 }, "");
      continue;
    }
    const chosen = await go_back(open.length - depth());
    if (depth() > open.length) rewrite({ depth: open.length });
    if (chosen) location.hash = chosen;
  }
  if (!due || open.length) return;
  if (due.hash === location.hash && JSON.stringify(due.view).length <= view_bytes_max) rewrite({ view: due.view });
  due = null;
}

const settle = () => (settled = settled.then(reconcile));

/** The view that the pane stored for this entry. @returns {Record<string, any>} */
export const recalled = () => (due?.hash === location.hash ? due.view : /** @type {any} */ (history.state)?.view) ?? {};

/** @param {Record<string, any>} changes */
export function remember(changes) {
  due = { hash: location.hash, view: { ...recalled(), ...changes } };
  settle();
}

/** Drops this entry's view when the account changes, because the new account may not have the tables and items in the view. */
export function forget() {
  due = null;
  rewrite({ view: undefined });
}

/** @param {HTMLDialogElement} made */
export function opened(made) {
  open.push(made);
  made.addEventListener("close", () => {
    const at = open.indexOf(made);
    if (at >= 0) open.splice(at, 1);
    settle();
  });
  settle();
}

export const dialogs_open = () => open.length > 0;

/** @param {string} hash "#/tables/carts" */
export async function visit(hash) {
  for (const made of open.splice(0)) made.close();
  await settle();
  location.hash = hash;
}

addEventListener("popstate", () => {
  if (moving) return;
  while (open.length > depth()) open.pop()?.close();
  // The Forward button may lead to the entry of a closed dialog. That entry becomes an ordinary entry of its pane.
  if (depth() > open.length) rewrite({ depth: open.length });
});

history.scrollRestoration = "manual";
// A reloaded page has no dialogs.
if (depth()) rewrite({ depth: 0 });
