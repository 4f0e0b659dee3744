// A description is stored as an item (item_codec.h) with one attribute per member, under the member's name.
// Members that are absent or false are not stored. Lists of structs are lists of maps. A change to a member's
// format needs a new member name, so that older data directories stay readable.
#include "engine/schema/table.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/values/checked_item.h"
#include "engine/values/item_codec.h"

namespace mayfly::engine {
namespace {

Number number(std::int64_t value) { return Number(value); }

// --- writing

void put(Map& map, const char* name, std::int64_t value) { map.set(name, number(value)); }
void put(Map& map, const char* name, const std::string& value) { map.set(name, value); }
void put_flag(Map& map, const char* name, bool value) {
  if (value) map.set(name, AttributeValue(true));
}
void put(Map& map, const char* name, const std::optional<std::int64_t>& value) {
  if (value) put(map, name, *value);
}

template <class Range, class Encode>
void put_list(Map& map, const char* name, const Range& range, Encode encode) {
  List list;
  for (const auto& element : range) list.push_back(AttributeValue(encode(element)));
  map.set(name, std::move(list));
}

Map key_attribute_map(const KeyAttribute& attribute) {
  Map map;
  put(map, "name", attribute.name);
  put(map, "type", static_cast<std::int64_t>(attribute.type));
  return map;
}

Map undoing_map(const Undoing& undoing) {
  Map map;
  put(map, "number", undoing.number);
  put(map, "first", static_cast<std::int64_t>(undoing.first));
  put(map, "last", static_cast<std::int64_t>(undoing.last));
  return map;
}

Map key_schema_map(const KeySchema& keys) {
  Map map;
  put_list(map, "partition", keys.partition(), key_attribute_map);
  put_list(map, "sort", keys.sort(), key_attribute_map);
  return map;
}

Map index_map(const Index& index) {
  Map map;
  put(map, "id", index.id);
  put(map, "name", index.name);
  put(map, "kind", static_cast<std::int64_t>(index.kind));
  map.set("keys", key_schema_map(index.keys));
  put(map, "projection", static_cast<std::int64_t>(index.projection.kind));
  put_list(map, "projected", index.projection.attributes, [](const std::string& name) { return name; });
  put(map, "state", static_cast<std::int64_t>(index.state));
  map.set("settings", index.settings);
  return map;
}

Map shard_map(const Shard& shard) {
  const auto put_unsigned = [&](Map& map, const char* name, std::uint64_t value) {
    put(map, name, static_cast<std::int64_t>(value));
  };
  Map map;
  put(map, "number", shard.number);
  if (shard.parent) {
    put(map, "parent", shard.parent->number);
    put(map, "parent_created", shard.parent->created);
  }
  put(map, "created", shard.created);
  put_unsigned(map, "first_hash", shard.first_hash);
  put_unsigned(map, "last_hash", shard.last_hash);
  put_unsigned(map, "first_sequence", shard.first_sequence);
  put_unsigned(map, "oldest_sequence", shard.oldest_sequence);
  put(map, "closed", shard.closed);
  if (shard.last_sequence) put_unsigned(map, "last_sequence", *shard.last_sequence);
  return map;
}

Map replica_map(const Replica& replica) {
  Map map;
  put(map, "table", replica.table);
  put(map, "region", replica.region);
  return map;
}

AttributeValue table_id_value(TableId table) { return number(table); }

// --- reading; a missing or malformed member keeps its default

std::int64_t int_or(const Map& map, const char* name, std::int64_t otherwise) {
  const AttributeValue* value = map.find(name);
  const Number* number = value ? value->get_if<Number>() : nullptr;
  return number ? number->floor_scaled(0).value_or(otherwise) : otherwise;
}
std::optional<std::int64_t> optional_int(const Map& map, const char* name) {
  if (!map.find(name)) return std::nullopt;
  return int_or(map, name, 0);
}
std::string string_or_empty(const Map& map, const char* name) {
  const AttributeValue* value = map.find(name);
  const std::string* text = value ? value->get_if<std::string>() : nullptr;
  return text ? *text : std::string();
}
bool flag(const Map& map, const char* name) { return map.find(name) != nullptr; }
const Map* submap(const Map& map, const char* name) {
  const AttributeValue* value = map.find(name);
  return value ? value->get_if<Map>() : nullptr;
}
const Map& map_in(const AttributeValue* value) {
  static const auto* const none = new Map;
  const Map* map = value ? value->get_if<Map>() : nullptr;
  return map ? *map : *none;
}

template <class Element, class Decode>
std::vector<Element> list_of(const Map& map, const char* name, Decode decode) {
  std::vector<Element> elements;
  const AttributeValue* value = map.find(name);
  if (const List* list = value ? value->get_if<List>() : nullptr)
    for (const AttributeValue& element : *list) elements.push_back(decode(element));
  return elements;
}

KeyAttribute key_attribute(const AttributeValue& value) {
  const Map& map = map_in(&value);
  return {string_or_empty(map, "name"), static_cast<ScalarType>(int_or(map, "type", 0))};
}

KeySchema key_schema(const Map& map) {
  return {list_of<KeyAttribute>(map, "partition", key_attribute),
          list_of<KeyAttribute>(map, "sort", key_attribute)};
}

// Earlier versions of Mayfly stored the settings next to the members: in descriptions from those versions,
// every attribute that is not a member is a setting.
Item settings(const Map& map, const Map& members) {
  if (const Map* found = submap(map, "settings")) return *found;
  Item settings;
  for (const Attribute& attribute : map)
    if (!members.find(attribute.name)) settings.append(attribute.name) = attribute.value;
  return settings;
}

Index index(const AttributeValue& value) {
  const Map& map = map_in(&value);
  Index index;
  index.id = static_cast<IndexId>(int_or(map, "id", 0));
  index.name = string_or_empty(map, "name");
  index.kind = static_cast<Index::Kind>(int_or(map, "kind", 0));
  index.keys = key_schema(map_in(map.find("keys")));
  index.projection.kind = static_cast<Projection::Kind>(int_or(map, "projection", 0));
  index.projection.attributes = list_of<std::string>(map, "projected", [](const AttributeValue& name) {
    const std::string* text = name.get_if<std::string>();
    return text ? *text : std::string();
  });
  index.state = static_cast<Index::State>(int_or(map, "state", 0));
  index.settings = settings(map, index_map(index));
  return index;
}

Undoing undoing(const AttributeValue& value) {
  const Map& map = map_in(&value);
  return {static_cast<std::uint32_t>(int_or(map, "number", 0)),
          static_cast<std::uint64_t>(int_or(map, "first", 0)),
          static_cast<std::uint64_t>(int_or(map, "last", 0))};
}

Shard shard(const AttributeValue& value) {
  const Map& map = map_in(&value);
  const auto unsigned_of = [&](const char* name) { return static_cast<std::uint64_t>(int_or(map, name, 0)); };
  Shard shard;
  shard.number = static_cast<ShardNumber>(unsigned_of("number"));
  if (const auto parent = optional_int(map, "parent"))
    shard.parent = {static_cast<ShardNumber>(*parent), int_or(map, "parent_created", 0)};
  shard.created = int_or(map, "created", 0);
  shard.first_hash = unsigned_of("first_hash");
  shard.last_hash = unsigned_of("last_hash");
  shard.first_sequence = unsigned_of("first_sequence");
  shard.oldest_sequence = unsigned_of("oldest_sequence");
  shard.closed = optional_int(map, "closed");
  if (flag(map, "last_sequence")) shard.last_sequence = unsigned_of("last_sequence");
  return shard;
}

Replica replica(const AttributeValue& value) {
  const Map& map = map_in(&value);
  return {static_cast<TableId>(int_or(map, "table", 0)), string_or_empty(map, "region")};
}

TableId table_id(const AttributeValue& value) {
  const Number* number = value.get_if<Number>();
  return static_cast<TableId>(number ? number->floor_scaled(0).value_or(0) : 0);
}

}  // namespace

std::string_view type_name(ScalarType type) {
  switch (type) {
    case ScalarType::string: return "S";
    case ScalarType::number: return "N";
    case ScalarType::binary: break;
  }
  return "B";
}

KeySchema::KeySchema(std::vector<KeyAttribute> partition, const std::vector<KeyAttribute>& sort)
    : all_(std::move(partition)), partition_size_(all_.size()) {
  all_.insert(all_.end(), sort.begin(), sort.end());
}

bool KeySchema::names(std::string_view attribute) const {
  return std::any_of(all_.begin(), all_.end(),
                     [&](const KeyAttribute& each) { return each.name == attribute; });
}

bool Stream::is_undone(std::uint64_t sequence) const {
  return std::any_of(undone.begin(), undone.end(), [&](const Undoing& undoing) {
    return undoing.first <= sequence && sequence <= undoing.last;
  });
}

bool Stream::has_lost(std::uint64_t next, std::uint32_t seen) const {
  return std::any_of(undone.begin(), undone.end(),
                     [&](const Undoing& undoing) { return undoing.number > seen && undoing.first < next; });
}

const Shard* Stream::find_shard(ShardNumber number) const {
  const auto found =
      std::lower_bound(shards.begin(), shards.end(), number,
                       [](const Shard& shard, ShardNumber wanted) { return shard.number < wanted; });
  return found != shards.end() && found->number == number ? &*found : nullptr;
}

const Shard& Stream::open_shard(std::uint64_t partition_hash) const {
  // Search from the newest shard, because older shards that are closed stay listed for a day.
  const auto shard = std::find_if(shards.rbegin(), shards.rend(), [&](const Shard& candidate) {
    return !candidate.closed && candidate.first_hash <= partition_hash &&
           partition_hash <= candidate.last_hash;
  });
  MAYFLY_CHECK(shard != shards.rend());
  return *shard;
}

const Index* Table::find_index(std::string_view index_name) const {
  for (const Index& index : indexes)
    if (index.name == index_name) return &index;
  return nullptr;
}

Item to_item(const Stream& stream) {
  Item item;
  put(item, "id", stream.id);
  put(item, "table", stream.table);
  put(item, "account", stream.account);
  put(item, "region", stream.region);
  put(item, "table_name", stream.table_name);
  put(item, "label", stream.label);
  put(item, "view", static_cast<std::int64_t>(stream.view));
  item.set("keys", key_schema_map(stream.keys));
  put(item, "created", stream.created);
  put(item, "name", stream.name);
  put_list(item, "undone", stream.undone, undoing_map);
  put(item, "disabled", stream.disabled);
  put_list(item, "shards", stream.shards, shard_map);
  item.set("settings", stream.settings);
  return item;
}

Stream stream_from_item(const Item& item) {
  Stream stream;
  stream.id = static_cast<StreamId>(int_or(item, "id", 0));
  stream.table = static_cast<TableId>(int_or(item, "table", 0));
  stream.account = string_or_empty(item, "account");
  stream.region = string_or_empty(item, "region");
  stream.table_name = string_or_empty(item, "table_name");
  stream.label = string_or_empty(item, "label");
  stream.view = static_cast<StreamView>(int_or(item, "view", 0));
  stream.keys = key_schema(map_in(item.find("keys")));
  stream.created = int_or(item, "created", 0);
  stream.name = static_cast<std::uint32_t>(int_or(item, "name", stream.id));
  stream.undone = list_of<Undoing>(item, "undone", undoing);
  stream.disabled = optional_int(item, "disabled");
  stream.shards = list_of<Shard>(item, "shards", shard);
  stream.settings = settings(item, to_item(stream));
  return stream;
}

Item to_item(const Table& table) {
  Item item;
  put(item, "id", table.id);
  put(item, "uuid", table.uuid);
  put(item, "account", table.account);
  put(item, "region", table.region);
  put(item, "name", table.name);
  put(item, "created", table.created);
  put_list(item, "attribute_definitions", table.attribute_definitions, key_attribute_map);
  item.set("keys", key_schema_map(table.keys));
  put_list(item, "indexes", table.indexes, index_map);
  if (table.ttl) {
    put(item, "ttl", table.ttl->attribute);
    put_flag(item, "ttl_backfilling", table.ttl->backfilling);
    put(item, "ttl_number", table.ttl->number);
    if (table.ttl->since != 0) put(item, "ttl_since", table.ttl->since);
    put_flag(item, "ttl_lists_never", table.ttl->lists_never);
  }
  put(item, "expiry", static_cast<std::int64_t>(table.expiry.kind));
  put(item, "expiry_delay_ms_min", table.expiry.delay_ms_min);
  put(item, "expiry_delay_ms_max", table.expiry.delay_ms_max);
  put(item, "expiry_seed", static_cast<std::int64_t>(table.expiry.seed));
  if (table.recovery) {
    put(item, "recovery_since", table.recovery->since);
    put(item, "recovery_days", table.recovery->days);
    put(item, "recovery_given_up", table.recovery->given_up);
  }
  if (table.stream) item.set("stream", to_item(*table.stream));
  if (table.latest_stream_label) put(item, "latest_stream_label", *table.latest_stream_label);
  item.set("settings", table.settings);
  put(item, "next_index_id", table.next_index_id);
  put(item, "next_ttl_number", table.next_ttl_number);
  if (!table.replicas.empty()) put_list(item, "replicas", table.replicas, replica_map);
  put_flag(item, "strong", table.strong);
  if (!table.copies_from.empty()) put_list(item, "copies_from", table.copies_from, table_id_value);
  return item;
}

Table table_from_item(const Item& item) {
  Table table;
  table.id = static_cast<TableId>(int_or(item, "id", 0));
  table.uuid = string_or_empty(item, "uuid");
  table.account = string_or_empty(item, "account");
  table.region = string_or_empty(item, "region");
  table.name = string_or_empty(item, "name");
  table.created = int_or(item, "created", 0);
  table.attribute_definitions = list_of<KeyAttribute>(item, "attribute_definitions", key_attribute);
  table.keys = key_schema(map_in(item.find("keys")));
  table.indexes = list_of<Index>(item, "indexes", index);
  if (flag(item, "ttl"))
    table.ttl = TimeToLive{string_or_empty(item, "ttl"), flag(item, "ttl_backfilling"),
                           static_cast<std::uint32_t>(int_or(item, "ttl_number", 0)),
                           int_or(item, "ttl_since", 0), flag(item, "ttl_lists_never")};
  const ExpiryMode mode;
  table.expiry = {
      static_cast<ExpiryMode::Kind>(int_or(item, "expiry", 0)),
      int_or(item, "expiry_delay_ms_min", mode.delay_ms_min),
      int_or(item, "expiry_delay_ms_max", mode.delay_ms_max),
      static_cast<std::uint64_t>(int_or(item, "expiry_seed", static_cast<std::int64_t>(mode.seed)))};
  if (flag(item, "recovery_since"))
    table.recovery = Recovery{int_or(item, "recovery_since", 0), int_or(item, "recovery_days", 0),
                              int_or(item, "recovery_given_up", 0)};
  if (const Map* found = submap(item, "stream")) table.stream = stream_from_item(*found);
  if (flag(item, "latest_stream_label"))
    table.latest_stream_label = string_or_empty(item, "latest_stream_label");
  table.next_index_id = static_cast<IndexId>(int_or(item, "next_index_id", 1));
  table.next_ttl_number = static_cast<std::uint32_t>(int_or(item, "next_ttl_number", 1));
  table.replicas = list_of<Replica>(item, "replicas", replica);
  table.strong = flag(item, "strong");
  table.copies_from = list_of<TableId>(item, "copies_from", table_id);
  table.settings = settings(item, to_item(table));
  return table;
}

// --- encoding

namespace {

std::string encoded(const Item& item) {
  std::string stored;
  encode_item(item, stored);
  return stored;
}

}  // namespace

std::string encode_description(const Table& table) { return encoded(to_item(table)); }
std::string encode_description(const Stream& stream) { return encoded(to_item(stream)); }

// --- decoding bytes that may be damaged

namespace {

// Whether decoding kept every stored value. Members that `read` lacks are settings that earlier versions of
// Mayfly stored next to the members.
bool agrees(const AttributeValue& stood, const AttributeValue& read);
bool agrees(const Map& stood, const Map& read) {
  const bool has_settings = stood.find("settings") != nullptr;
  return std::all_of(stood.begin(), stood.end(), [&](const Attribute& attribute) {
    if (attribute.name == "settings") return attribute.value.get_if<Map>() != nullptr;
    const AttributeValue* value = read.find(attribute.name);
    return value ? agrees(attribute.value, *value) : !has_settings;
  });
}
bool agrees(const AttributeValue& stood, const AttributeValue& read) {
  const Map *stood_map = stood.get_if<Map>(), *read_map = read.get_if<Map>();
  if (stood_map && read_map) return agrees(*stood_map, *read_map);
  const List *stood_list = stood.get_if<List>(), *read_list = read.get_if<List>();
  if (stood_list && read_list)
    return std::equal(stood_list->begin(), stood_list->end(), read_list->begin(), read_list->end(),
                      [](const AttributeValue& a, const AttributeValue& b) { return agrees(a, b); });
  return stood == read;
}

// Returns an error message that names the first member that decoding did not keep; empty if both items agree.
std::string first_disagreement(const Item& stood, const Item& read) {
  const auto member = std::find_if(stood.begin(), stood.end(), [&](const Attribute& attribute) {
    Item others;  // only to keep the other members out of the comparison
    if (stood.find("settings")) others.set("settings", AttributeValue(Map()));
    others.set(attribute.name, attribute.value);
    return !agrees(others, read);
  });
  return member == stood.end() ? "" : "its member " + member->name + " is malformed";
}

bool is_one_of(auto value, auto last) { return value <= last; }

std::string flaw_of(const KeySchema& keys, std::size_t each_max) {
  if (keys.partition().empty() || keys.partition().size() > each_max || keys.sort().size() > each_max)
    return "its key has an invalid number of attributes";
  for (const KeyAttribute& attribute : keys.all())
    if (attribute.name.empty() || !is_one_of(attribute.type, ScalarType::binary))
      return "its key has an attribute without a name or type";
  return {};
}

std::string flaw_of(const Stream& stream) {
  if (!is_one_of(stream.view, StreamView::new_and_old_images)) return "its stream view is unknown";
  if (stream.shards.empty() && !stream.disabled) return "it has no shards";
  return flaw_of(stream.keys, 1);
}

std::string flaw_of(const Index& index) {
  if (!is_one_of(index.kind, Index::Kind::global) || !is_one_of(index.state, Index::State::active) ||
      !is_one_of(index.projection.kind, Projection::Kind::include))
    return "its index " + index.name + " has an unknown kind, state or projection";
  return flaw_of(index.keys, key_attributes_max);
}

std::string flaw_of(const Table& table) {
  if (std::string flaw = flaw_of(table.keys, 1); !flaw.empty()) return flaw;
  for (const Index& index : table.indexes)
    if (std::string flaw = flaw_of(index); !flaw.empty()) return flaw;
  if (!is_one_of(table.expiry.kind, ExpiryMode::Kind::manual)) return "its expiry mode is unknown";
  for (const Replica& replica : table.replicas)
    if (replica.table == 0 || replica.table == table.id || replica.region.empty())
      return "it has a malformed replica";
  return table.stream ? flaw_of(*table.stream) : std::string();
}

template <class Description>
Expected<Description, std::string> decode(std::string_view stored, Description (*from_item)(const Item&)) {
  TRY(const Item item, checked_item(stored));
  Description description = from_item(item);
  std::string flaw = first_disagreement(item, to_item(description));
  if (flaw.empty()) flaw = flaw_of(description);
  if (!flaw.empty()) return Unexpected{std::move(flaw)};
  return description;
}

}  // namespace

Expected<Table, std::string> decode_table(std::string_view stored) { return decode(stored, table_from_item); }
Expected<Stream, std::string> decode_stream(std::string_view stored) {
  return decode(stored, stream_from_item);
}

}  // namespace mayfly::engine
