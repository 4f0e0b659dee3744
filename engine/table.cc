// Stored bytes: an item (item_codec.h) with one attribute per member, named as the member; what is absent or
// false is not stored. Lists of structs are lists of maps. A format change needs a new member name, so that
// older directories stay readable.
#include "engine/table.h"

#include <algorithm>
#include <cassert>
#include <utility>

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
  put_list(map, "partition", keys.partition, key_attribute_map);
  put_list(map, "sort", keys.sort, key_attribute_map);
  return map;
}

Map throughput_map(const Throughput& throughput) {
  Map map;
  put(map, "read_units", throughput.read_units);
  put(map, "write_units", throughput.write_units);
  put(map, "last_increase", throughput.last_increase);
  put(map, "last_decrease", throughput.last_decrease);
  put(map, "decreases_today", throughput.decreases_today);
  return map;
}

Map on_demand_map(const OnDemandLimits& limits) {
  Map map;
  put(map, "read_units_max", limits.read_units_max);
  put(map, "write_units_max", limits.write_units_max);
  return map;
}

Map warm_map(const WarmThroughput& warm) {
  Map map;
  put(map, "read_units", warm.read_units);
  put(map, "write_units", warm.write_units);
  return map;
}

Map insights_map(const ContributorInsights& insights) {
  Map map;
  put_flag(map, "enabled", insights.enabled);
  put(map, "mode", insights.mode);
  put(map, "changed", insights.changed);
  return map;
}

Map policy_map(const ResourcePolicy& policy) {
  Map map;
  put(map, "document", policy.document);
  put(map, "revision", policy.revision);
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
  map.set("throughput", throughput_map(index.throughput));
  map.set("on_demand", on_demand_map(index.on_demand));
  if (index.warm) map.set("warm", warm_map(*index.warm));
  if (index.insights) map.set("insights", insights_map(*index.insights));
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

// --- reading; what is missing keeps its default

std::int64_t int_or(const Map& map, const char* name, std::int64_t otherwise) {
  const AttributeValue* value = map.find(name);
  if (!value) return otherwise;
  const auto parsed = value->get_if<Number>()->floor_scaled(0);
  assert(parsed);
  return *parsed;
}
std::optional<std::int64_t> optional_int(const Map& map, const char* name) {
  if (!map.find(name)) return std::nullopt;
  return int_or(map, name, 0);
}
std::string string_or_empty(const Map& map, const char* name) {
  const AttributeValue* value = map.find(name);
  return value ? *value->get_if<std::string>() : std::string();
}
bool flag(const Map& map, const char* name) { return map.find(name) != nullptr; }
const Map* submap(const Map& map, const char* name) {
  const AttributeValue* value = map.find(name);
  return value ? value->get_if<Map>() : nullptr;
}

template <class Element, class Decode>
std::vector<Element> list_of(const Map& map, const char* name, Decode decode) {
  std::vector<Element> elements;
  if (const AttributeValue* value = map.find(name))
    for (const AttributeValue& element : *value->get_if<List>()) elements.push_back(decode(element));
  return elements;
}

KeyAttribute key_attribute(const AttributeValue& value) {
  const Map& map = *value.get_if<Map>();
  return {string_or_empty(map, "name"), static_cast<ScalarType>(int_or(map, "type", 0))};
}

KeySchema key_schema(const Map& map) {
  return {list_of<KeyAttribute>(map, "partition", key_attribute),
          list_of<KeyAttribute>(map, "sort", key_attribute)};
}

Throughput throughput(const Map& map) {
  return {int_or(map, "read_units", 0), int_or(map, "write_units", 0), int_or(map, "last_increase", 0),
          int_or(map, "last_decrease", 0), int_or(map, "decreases_today", 0)};
}

OnDemandLimits on_demand(const Map& map) {
  return {optional_int(map, "read_units_max"), optional_int(map, "write_units_max")};
}

WarmThroughput warm(const Map& map) { return {int_or(map, "read_units", 0), int_or(map, "write_units", 0)}; }

ContributorInsights insights(const Map& map) {
  return {flag(map, "enabled"), string_or_empty(map, "mode"), int_or(map, "changed", 0)};
}

ResourcePolicy policy(const Map& map) {
  return {string_or_empty(map, "document"), string_or_empty(map, "revision")};
}

Index index(const AttributeValue& value) {
  const Map& map = *value.get_if<Map>();
  Index index;
  index.id = static_cast<IndexId>(int_or(map, "id", 0));
  index.name = string_or_empty(map, "name");
  index.kind = static_cast<Index::Kind>(int_or(map, "kind", 0));
  index.keys = key_schema(*submap(map, "keys"));
  index.projection.kind = static_cast<Projection::Kind>(int_or(map, "projection", 0));
  index.projection.attributes = list_of<std::string>(
      map, "projected", [](const AttributeValue& name) { return *name.get_if<std::string>(); });
  index.state = static_cast<Index::State>(int_or(map, "state", 0));
  index.throughput = throughput(*submap(map, "throughput"));
  index.on_demand = on_demand(*submap(map, "on_demand"));
  if (const Map* found = submap(map, "warm")) index.warm = warm(*found);
  if (const Map* found = submap(map, "insights")) index.insights = insights(*found);
  return index;
}

Undoing undoing(const AttributeValue& value) {
  const Map& map = *value.get_if<Map>();
  return {static_cast<std::uint32_t>(int_or(map, "number", 0)),
          static_cast<std::uint64_t>(int_or(map, "first", 0)),
          static_cast<std::uint64_t>(int_or(map, "last", 0))};
}

Shard shard(const AttributeValue& value) {
  const Map& map = *value.get_if<Map>();
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

}  // namespace

std::string_view type_name(ScalarType type) {
  switch (type) {
    case ScalarType::string: return "S";
    case ScalarType::number: return "N";
    case ScalarType::binary: break;
  }
  return "B";
}

bool has_type(const AttributeValue& value, ScalarType type) {
  switch (type) {
    case ScalarType::string: return value.type() == Type::string;
    case ScalarType::number: return value.type() == Type::number;
    case ScalarType::binary: break;
  }
  return value.type() == Type::binary;
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
  for (const Shard& shard : shards)
    if (shard.number == number) return &shard;
  return nullptr;
}

const Shard& Stream::open_shard(std::uint64_t partition_hash) const {
  // From the youngest: shards that were closed stay listed for a day.
  const auto shard = std::find_if(shards.rbegin(), shards.rend(), [&](const Shard& candidate) {
    return !candidate.closed && candidate.first_hash <= partition_hash &&
           partition_hash <= candidate.last_hash;
  });
  assert(shard != shards.rend());
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
  if (stream.policy) item.set("policy", policy_map(*stream.policy));
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
  stream.keys = key_schema(*submap(item, "keys"));
  stream.created = int_or(item, "created", 0);
  stream.name = static_cast<std::uint32_t>(int_or(item, "name", stream.id));
  stream.undone = list_of<Undoing>(item, "undone", undoing);
  stream.disabled = optional_int(item, "disabled");
  stream.shards = list_of<Shard>(item, "shards", shard);
  if (const Map* found = submap(item, "policy")) stream.policy = policy(*found);
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
  put_flag(item, "on_demand", table.on_demand);
  put(item, "on_demand_since", table.on_demand_since);
  item.set("throughput", throughput_map(table.throughput));
  item.set("on_demand_limits", on_demand_map(table.on_demand_limits));
  if (table.warm) item.set("warm", warm_map(*table.warm));
  if (table.recovery) {
    put(item, "recovery_since", table.recovery->since);
    put(item, "recovery_days", table.recovery->days);
  }
  if (table.ttl) {
    put(item, "ttl", table.ttl->attribute);
    put_flag(item, "ttl_backfilling", table.ttl->backfilling);
    put(item, "ttl_number", table.ttl->number);
  }
  put(item, "expiry", static_cast<std::int64_t>(table.expiry.kind));
  put(item, "expiry_delay_ms_min", table.expiry.delay_ms_min);
  put(item, "expiry_delay_ms_max", table.expiry.delay_ms_max);
  put(item, "expiry_seed", static_cast<std::int64_t>(table.expiry.seed));
  put(item, "ttl_changed", table.ttl_changed);
  if (table.stream) item.set("stream", to_item(*table.stream));
  if (table.latest_stream_label) put(item, "latest_stream_label", *table.latest_stream_label);
  put_flag(item, "deletion_protection", table.deletion_protection);
  put(item, "table_class", table.table_class);
  put(item, "table_class_changed", table.table_class_changed);
  if (table.encryption) {
    put_flag(item, "encrypted", table.encryption->enabled);
    put(item, "kms_key_arn", table.encryption->kms_key_arn);
  }
  if (table.insights) item.set("insights", insights_map(*table.insights));
  if (table.policy) item.set("policy", policy_map(*table.policy));
  if (!table.settings_replication.empty()) put(item, "settings_replication", table.settings_replication);
  Map tags;
  for (const auto& [name, value] : table.tags) tags.set(name, value);
  item.set("tags", std::move(tags));
  put(item, "next_index_id", table.next_index_id);
  put(item, "next_ttl_number", table.next_ttl_number);
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
  table.keys = key_schema(*submap(item, "keys"));
  table.indexes = list_of<Index>(item, "indexes", index);
  table.on_demand = flag(item, "on_demand");
  table.on_demand_since = optional_int(item, "on_demand_since");
  table.throughput = throughput(*submap(item, "throughput"));
  table.on_demand_limits = on_demand(*submap(item, "on_demand_limits"));
  if (const Map* found = submap(item, "warm")) table.warm = warm(*found);
  if (flag(item, "recovery_since"))
    table.recovery = PointInTimeRecovery{int_or(item, "recovery_since", 0), int_or(item, "recovery_days", 0)};
  if (flag(item, "ttl"))
    table.ttl = TimeToLive{string_or_empty(item, "ttl"), flag(item, "ttl_backfilling"),
                           static_cast<std::uint32_t>(int_or(item, "ttl_number", 0))};
  const ExpiryMode mode;
  table.expiry = {
      static_cast<ExpiryMode::Kind>(int_or(item, "expiry", 0)),
      int_or(item, "expiry_delay_ms_min", mode.delay_ms_min),
      int_or(item, "expiry_delay_ms_max", mode.delay_ms_max),
      static_cast<std::uint64_t>(int_or(item, "expiry_seed", static_cast<std::int64_t>(mode.seed)))};
  table.ttl_changed = optional_int(item, "ttl_changed");
  if (const Map* found = submap(item, "stream")) table.stream = stream_from_item(*found);
  if (flag(item, "latest_stream_label"))
    table.latest_stream_label = string_or_empty(item, "latest_stream_label");
  table.deletion_protection = flag(item, "deletion_protection");
  table.table_class = string_or_empty(item, "table_class");
  table.table_class_changed = optional_int(item, "table_class_changed");
  if (flag(item, "kms_key_arn"))
    table.encryption = ServerSideEncryption{flag(item, "encrypted"), string_or_empty(item, "kms_key_arn")};
  if (const Map* found = submap(item, "insights")) table.insights = insights(*found);
  if (const Map* found = submap(item, "policy")) table.policy = policy(*found);
  table.settings_replication = string_or_empty(item, "settings_replication");
  for (const Attribute& tag : *submap(item, "tags")) table.tags[tag.name] = *tag.value.get_if<std::string>();
  table.next_index_id = static_cast<IndexId>(int_or(item, "next_index_id", 1));
  table.next_ttl_number = static_cast<std::uint32_t>(int_or(item, "next_ttl_number", 1));
  return table;
}

}  // namespace mayfly::engine
