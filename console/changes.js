// One change to an item, as a card. The card shows what happened, and the item's images before and after the change.
import { badge, element, moment } from "./elements.js";
import { attribute, brief, key_text } from "./values.js";

const attributes_max = 60;

/** @param {{ table: string, record: any }} change */
export function change_card({ table, record }) {
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
  // The images are drawn when the card is opened for the first time.
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
            "Its TTL passed, and the service deleted it (userIdentity dynamodb.amazonaws.com).",
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
      element("p", { class: "dim" }, "no image"),
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
