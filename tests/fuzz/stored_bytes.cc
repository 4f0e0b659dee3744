// Decodes bytes as if they were stored. The decoder rejects malformed bytes and never reads beyond their end.
// Accepted bytes are exactly what encoding the decoded value produces. In the other direction, an encoded
// value is decoded unchanged.
//
//   Input: a byte that selects the kind of value, then the bytes
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compat/wire/attribute_value_json.h"
#include "compat/wire/shapes_common.h"
#include "engine/background/snapshots.h"
#include "engine/schema/index_entries.h"
#include "engine/schema/readable_key.h"
#include "engine/schema/table.h"
#include "engine/tables/change_log.h"
#include "engine/values/checked_item.h"
#include "engine/values/item_codec.h"
#include "engine/values/item_size.h"
#include "engine/values/key_codec.h"
#include "tests/fuzz/must.h"
#include "tests/fuzz/pieces.h"
#include "tests/fuzz/targets.h"

namespace mayfly::testing {

using namespace engine;

namespace {

std::string encoded(const Item& item) {
  std::string bytes;
  encode_item(item, bytes);
  return bytes;
}

std::string printed(const Item& item) {
  std::string text;
  json::Writer writer(text);
  compat::write_item_object(writer, item);
  return text;
}

void try_item(std::string_view bytes) {
  const auto item = checked_item(bytes);
  if (!item) return must(!item.error().empty(), "an error has a message");
  must(encoded(*item) == bytes, "an item has one encoding");
  for (const Attribute& attribute : *item) {
    const auto found = stored_attribute(bytes, attribute.name);
    must(found && *found == attribute.value, "an attribute is found in stored bytes", attribute.name);
  }
  std::string straight;
  json::Writer writer(straight);
  compat::write_stored_item(writer, bytes);
  must(straight == printed(*item), "an item prints the same from its bytes and decoded", straight);
}

// Checks that a decoded description is unchanged after it is encoded and decoded again.
template <class Description>
void try_description(std::string_view bytes, Expected<Description, std::string> (*decode)(std::string_view)) {
  const auto description = decode(bytes);
  if (!description) return;
  const std::string again = encoded(to_item(*description));
  const auto decoded = decode(again);
  must(bool(decoded), "a decoded description can be stored", decoded ? "" : decoded.error());
  must(to_item(*decoded) == to_item(*description), "a stored description is unchanged");
}

void try_record(std::string_view bytes) {
  static const Stream stream = [] {
    Stream made;
    made.keys = KeySchema({{"id", ScalarType::string}}, {{"at", ScalarType::number}});
    return made;
  }();
  const auto record = checked_record(stream, 1, bytes);
  if (!record) return;
  const std::string old_image = record->old_image ? encoded(*record->old_image) : "";
  const std::string new_image = record->new_image ? encoded(*record->new_image) : "";
  std::string again = encode_record(record->cause, stream.view, record->keys, old_image, new_image);
  set_record_created(again, record->created);
  must(again == bytes, "a record has one encoding");
}

void try_key(std::string_view bytes) {
  static const KeySchema keys({{"id", ScalarType::string}},
                              {{"at", ScalarType::number}, {"b", ScalarType::binary}});
  static const Table table = [] {
    Table made;
    made.keys = KeySchema({{"id", ScalarType::string}}, {});
    made.indexes.push_back({.id = 1, .name = "by_n", .keys = KeySchema({{"n", ScalarType::number}}, {})});
    return made;
  }();
  must(!readable_key(keys, bytes).empty(), "a key can be printed");
  must(!readable_entry(table, table.indexes[0], bytes).empty(), "an index entry can be printed");
  (void)snapshot_ids(bytes);
}

std::optional<Item> item_of(std::string_view text) {
  const auto document = json::parse(text);
  if (document == nullptr) return std::nullopt;
  if (!compat::check_types(compat::shapes::attribute_map, document->root())) return std::nullopt;
  auto item = compat::read_item(document->root());
  const auto stored = compat::read_stored_item(document->root());
  must(stored.has_value() == item.has_value(), "reading an item to bytes accepts the same items");
  if (!item) {
    must(stored.error().message == item.error().message, "reading an item to bytes gives the same error",
         item.error().message);
    return std::nullopt;
  }
  must(stored->bytes() == encoded(*item), "reading an item to bytes gives its encoding");
  return *std::move(item);
}

// Parses two lines as items in requests. Checks that each item is unchanged after it is stored and read, and
// that keys sort in the order of their values.
void try_items(std::string_view text) {
  const auto a = item_of(take_until(text)), b = item_of(take_until(text));
  for (const auto& item : {a, b}) {
    if (!item) continue;
    const std::string bytes = encoded(*item);
    must(stored_item_size(bytes) == item_size(*item), "stored bytes give the item's size");
    must(encoded(decode_item(bytes)) == bytes && decode_item(bytes) == *item, "a stored item is unchanged");
    const auto checked = checked_item(bytes);
    must(checked && *checked == *item, "a stored item is valid", checked ? "" : checked.error());
    const auto again = item_of(printed(*item));
    must(again && *again == *item, "a printed item is read unchanged", printed(*item));
  }
  if (!a || !b) return;
  for (const Attribute& attribute : *a) {
    const AttributeValue* const other = b->find(attribute.name);
    if (other == nullptr) continue;
    const auto order = compare_scalars(attribute.value, *other);
    if (order == std::partial_ordering::unordered) continue;
    std::string key_a, key_b;
    append_scalar(key_a, attribute.value);
    append_scalar(key_b, *other);
    must((key_a <=> key_b) == order, "keys sort as values do");
    const bool of_text = attribute.value.type() != Type::number;
    if (!of_text) continue;
    std::string prefix;
    append_scalar_prefix(prefix, attribute.value);
    const auto bytes = [](const AttributeValue& value) -> std::string_view {
      if (const auto* string = value.get_if<std::string>()) return *string;
      return value.get_if<Binary>()->bytes;
    };
    const bool begins = bytes(*other).starts_with(bytes(attribute.value));
    const std::string end = prefix_end(prefix);
    must(begins == (key_b >= prefix && (end.empty() || key_b < end)),
         "the range of a prefix contains exactly the keys that begin with it");
  }
}

}  // namespace

void fuzz_stored_bytes(std::string_view input) {
  switch (take_byte(input)) {
    case 'i': return try_item(input);
    case 't': return try_description<Table>(input, decode_table);
    case 's': return try_description<Stream>(input, decode_stream);
    case 'r': return try_record(input);
    case 'k': return try_key(input);
    default: return try_items(input);
  }
}

}  // namespace mayfly::testing
