#include "engine/tables/catalog.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "engine/database.h"
#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"
#include "engine/values/key_codec.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

std::size_t stored_keys(Database& database, const std::string& prefix) {
  std::size_t count = 0;
  Storage::Iterator iterator(database.storage(), prefix, prefix_end(prefix));
  for (iterator.seek_to_first(); iterator.valid(); iterator.next()) ++count;
  return count;
}

Table everything() {
  Table table = sorted_table("everything");
  table.id = 7;
  table.uuid = "u";
  table.created = 1;
  table.indexes = {local_index("local", "day"), global_index("global", "user", Projection::Kind::include)};
  table.indexes[0].id = 1;
  table.indexes[1].id = 2;
  table.indexes[1].projection.attributes = {"x", "y"};
  table.indexes[1].state = Index::State::creating;
  table.indexes[1].settings = {{"colour", "green"}};
  table.ttl = TimeToLive{"ttl", true};
  table.stream = stream_of(StreamView::old_image);
  table.stream->id = 14;
  table.stream->table = 7;
  table.stream->label = "2024-05-01T00:00:00.000";
  table.stream->keys = table.keys;
  table.stream->disabled = 15;
  table.stream->shards = first_shards(2, 16, 17);
  CHECK(reshard(*table.stream, 1, Resharding::split, 18, 19));
  table.stream->shards[0].oldest_sequence = 20;
  table.latest_stream_label = table.stream->label;
  table.stream->settings = {{"colour", "blue"}};
  table.settings = {{"colour", "red"}, {"sizes", Map{{"name", number(14)}}}};
  table.next_index_id = 3;
  return table;
}

}  // namespace

TEST_CASE("a table description is unchanged after encoding and decoding", "[catalog]") {
  const Item stored = to_item(everything());
  CHECK(to_item(table_from_item(stored)) == stored);
  const Table read = table_from_item(stored);
  CHECK(read.indexes[1].projection.attributes == std::vector<std::string>{"x", "y"});
  CHECK(read.stream->shards == everything().stream->shards);
  CHECK(read.settings == everything().settings);
  CHECK(read.indexes[1].settings == everything().indexes[1].settings);
  CHECK(read.stream->settings == everything().stream->settings);
  // Absent members stay absent.
  const Table plain = table_from_item(to_item(simple_table("plain")));
  CHECK_FALSE(plain.ttl);
  CHECK_FALSE(plain.stream);
  CHECK(plain.settings.empty());
}

TEST_CASE("settings that an older version stored among a description's members are still read", "[catalog]") {
  const auto merged = [](Map map) {
    const Map settings = *map.find("settings")->get_if<Map>();
    map.erase("settings");
    for (const Attribute& setting : settings) map.set(setting.name, setting.value);
    return map;
  };
  const Item stored = to_item(everything());
  Item before = merged(stored);
  before.set("stream", merged(*before.find("stream")->get_if<Map>()));
  for (AttributeValue& index : *before.find("indexes")->get_if<List>()) index = merged(*index.get_if<Map>());
  CHECK_FALSE(before == stored);
  CHECK(to_item(table_from_item(before)) == stored);
}

TEST_CASE("a re-created index or stream does not inherit its predecessor's settings", "[catalog]") {
  World world;
  Table description = simple_table("carts");
  description.settings = {{"colour", "red"}};
  description.indexes = {global_index("by_user", "user")};
  description.indexes[0].settings = {{"colour", "green"}};
  description.stream = stream_of(StreamView::new_image);
  auto carts = world.create(description);
  world.database().tables().update(carts, [](Table& table) {
    table.stream->settings = {{"colour", "blue"}};
  });
  CHECK(carts->description()->indexes[0].settings == Item{{"colour", "green"}});
  CHECK(carts->description()->stream->settings == Item{{"colour", "blue"}});
  world.database().tables().update(carts, [](Table& table) {
    table.indexes.clear();
    table.stream.reset();
  });
  world.database().tables().update(carts, [](Table& table) {
    table.indexes = {global_index("by_user", "user")};
    table.stream = stream_of(StreamView::new_image);
  });
  CHECK(carts->description()->indexes[0].settings.empty());
  CHECK(carts->description()->stream->settings.empty());
  CHECK(carts->description()->settings == Item{{"colour", "red"}});
}

TEST_CASE("table names are unique per account and region", "[catalog]") {
  World world;
  auto first = world.create(simple_table("carts"));
  REQUIRE(first);
  CHECK_FALSE(world.create(simple_table("carts")));
  Table elsewhere = simple_table("carts");
  elsewhere.region = "eu-west-1";
  auto second = world.create(elsewhere);
  REQUIRE(second);
  CHECK(second->id() != first->id());
  world.put(first, {{"id", "a"}});
  CHECK_FALSE(world.get(second, {{"id", "a"}}));
}

TEST_CASE("a list of tables is sorted by name and starts after the given name", "[catalog]") {
  World world;
  for (const char* name : {"b", "d", "a", "c"}) world.create(simple_table(name));
  const Scope scope{"000000000000", "us-east-1"};
  CHECK(world.database().catalog().names(scope, "", 10) == std::vector<std::string>{"a", "b", "c", "d"});
  CHECK(world.database().catalog().names(scope, "b", 1) == std::vector<std::string>{"c"});
  CHECK(world.database().catalog().names({"000000000042", "us-east-1"}, "", 10).empty());
}

TEST_CASE("a dropped table leaves no data and a new table with its name starts empty", "[catalog]") {
  World world;
  Table description = simple_table("carts");
  description.indexes = {global_index("by_user", "user")};
  auto carts = world.create(description);
  world.enable_ttl(carts);
  world.put(carts, {{"id", "a"}, {"user", "nina"}, {"ttl", number(start_seconds + 60)}});
  REQUIRE(world.database().tables().drop(carts));
  CHECK_FALSE(world.database().tables().drop(carts));
  CHECK_FALSE(world.find("carts"));
  CHECK(carts->dropped());
  for (const char kind : {'I', 'X', 'N', 'T'})
    CHECK(stored_keys(world.database(), table_prefix(kind, carts->id())) == 0);

  auto again = world.create(description);
  CHECK(again->id() != carts->id());
  CHECK(again->description()->uuid != carts->description()->uuid);
  CHECK(world.all(again).empty());
  CHECK(world.timers().size() == 0);
}

TEST_CASE("removing an index erases its entries and a new index gets a new id", "[catalog]") {
  World world;
  Table description = simple_table("carts");
  description.indexes = {global_index("by_user", "user")};
  auto carts = world.create(description);
  world.put(carts, {{"id", "a"}, {"user", "nina"}});
  world.database().tables().update(carts, [](Table& table) { table.indexes.clear(); });
  CHECK(stored_keys(world.database(), item_key(carts->id(), 1, {})) == 0);
  const auto after = world.database().tables().update(
      carts, [](Table& table) { table.indexes.push_back(global_index("by_user", "user")); });
  CHECK(after->indexes[0].id == 2);
  CHECK(after->indexes[0].state == Index::State::active);
  CHECK(world.all(carts, 2).size() == 1);
  CHECK(world.inconsistency(carts).empty());
}

TEST_CASE("a stream's label is unique even on a frozen clock", "[catalog]") {
  World world;
  auto carts = world.create(simple_table("carts"));
  const auto enable = [](Table& table) { table.stream = stream_of(StreamView::keys_only); };
  const auto disable = [](Table& table) { table.stream.reset(); };
  std::vector<std::string> labels;
  for (int i = 0; i < 3; ++i) {
    labels.push_back(world.database().tables().update(carts, enable)->stream->label);
    world.database().tables().update(carts, disable);
  }
  CHECK(labels == std::vector<std::string>{"2024-05-01T00:00:00.000", "2024-05-01T00:00:00.001",
                                           "2024-05-01T00:00:00.002"});
  CHECK(carts->description()->latest_stream_label == labels[2]);
  // The streams of a dropped table still exist, so a new table with its name must not reuse their labels.
  world.database().tables().drop(carts);
  Table description = simple_table("carts");
  description.stream = stream_of(StreamView::keys_only);
  CHECK(world.create(description)->description()->stream->label == "2024-05-01T00:00:00.003");
  CHECK(world.database().catalog().streams(Scope{"000000000000", "us-east-1"}).size() == 4);
}

TEST_CASE("a catalog change that storage rejects has no effect", "[catalog]") {
  bool fails = false;
  World world({.reap = false, .write_fails = [&] { return fails; }});
  auto carts = world.create(simple_table("carts"));
  fails = true;
  CHECK_THROWS_AS(world.create(simple_table("orders")), StorageFault);
  CHECK_THROWS_AS(world.database().tables().drop(carts), StorageFault);
  CHECK_THROWS_AS(world.enable_ttl(carts), StorageFault);
  fails = false;
  CHECK_FALSE(world.find("orders"));
  CHECK(world.find("carts") == carts);
  CHECK_FALSE(carts->dropped());
  CHECK_FALSE(carts->description()->ttl);
  CHECK(world.create(simple_table("orders")));
}

TEST_CASE("tables and their counters and streams survive reopening the database", "[catalog]") {
  const TemporaryDirectory directory;
  World world({.directory = directory.path(), .reap = false});
  Table description = simple_table("carts");
  description.indexes = {global_index("by_user", "user")};
  description.stream = stream_of(StreamView::new_and_old_images);
  auto carts = world.create(description);
  world.put(carts, {{"id", "a"}, {"user", "nina"}});
  world.put(carts, {{"id", "b"}});
  const Item stored = to_item(*carts->description());
  carts.reset();

  world.reopen();
  carts = world.find("carts");
  REQUIRE(carts);
  CHECK(to_item(*carts->description()) == stored);
  CHECK(carts->counter(0).items == 2);
  CHECK(carts->counter(1).items == 1);
  CHECK(world.inconsistency(carts).empty());
  CHECK(world.records(carts->description()->stream->id).size() == 2);
  const Sequence before = world.database().watermark().published();
  world.put(carts, {{"id", "c"}});
  CHECK(world.database().watermark().published() == before + 1);
  CHECK(world.create(simple_table("orders"))->id() != carts->id());
}

TEST_CASE("index ids wrap around and an index with a reused id starts empty", "[catalog]") {
  const TemporaryDirectory directory;
  World world({.directory = directory.path(), .reap = false});
  Table description = simple_table("carts");
  description.indexes = {global_index("first", "user")};
  auto carts = world.create(description);
  for (int i = 0; i < 5; ++i) world.put(carts, {{"id", std::to_string(i)}, {"user", "nina"}, {"day", "mon"}});
  REQUIRE(carts->description()->indexes[0].id == 1);

  const auto add = [&](const std::string& name, const std::string& attribute) {
    const auto after = world.database().tables().update(
        carts, [&](Table& table) { table.indexes.push_back(global_index(name, attribute)); });
    const Index& index = after->indexes.back();
    CHECK(index.state == Index::State::active);
    CHECK(carts->counter(index.id).items == 5);
    CHECK(world.all(carts, index.id).size() == 5);
    return index.id;
  };
  const auto drop = [&](const std::string& name) {
    world.database().tables().update(carts, [&](Table& table) {
      std::erase_if(table.indexes, [&](const Index& index) { return index.name == name; });
    });
  };
  // Simulates adding and removing 65,532 other indexes.
  world.database().tables().update(carts, [](Table& table) { table.next_index_id = last_index_id - 1; });
  CHECK(add("a", "user") == last_index_id - 1);
  CHECK(add("b", "day") == last_index_id);
  CHECK(add("c", "user") == 2);  // index "first" still has id 1
  drop("first");
  world.database().tables().update(
      carts, [](Table& table) { table.next_index_id = last_index_id + 1; });  // as older versions stored it
  CHECK(add("d", "day") == 1);
  CHECK(carts->counter(expiry_entries).items == 0);
  CHECK(world.inconsistency(carts) == "");
  world.reopen();
  carts = world.find("carts");
  CHECK(carts->counter(1).items == 5);
  CHECK(world.inconsistency(carts) == "");
}

TEST_CASE("an index that replaces another one in a single change gets a new id", "[catalog]") {
  World world;
  Table description = simple_table("carts");
  description.indexes = {global_index("old", "user")};
  auto carts = world.create(description);
  world.put(carts, {{"id", "a"}, {"user", "nina"}, {"day", "mon"}});
  const auto after = world.database().tables().update(carts, [](Table& table) {
    table.indexes = {global_index("new", "day")};
    table.next_index_id = 1;
  });
  CHECK(after->indexes[0].id == 2);
  CHECK(after->indexes[0].state == Index::State::active);
  CHECK(world.inconsistency(carts) == "");
}

TEST_CASE("streams are found by name and listed in order even if their tables were dropped", "[catalog]") {
  World world;
  Table description = simple_table("carts");
  description.stream = stream_of(StreamView::keys_only);
  std::vector<std::string> labels;
  for (int i = 0; i < 50; ++i) {  // the clock is frozen
    auto carts = world.create(description);
    labels.push_back(carts->description()->stream->label);
    REQUIRE(world.database().tables().drop(carts));
  }
  CHECK(std::is_sorted(labels.begin(), labels.end()));
  CHECK(std::adjacent_find(labels.begin(), labels.end()) == labels.end());
  CHECK(labels.back() == "2024-05-01T00:00:00.049");
  description.region = "eu-west-1";
  world.create(description);

  const Scope scope{"000000000000", "us-east-1"};
  const auto streams = world.database().catalog().streams(scope);
  REQUIRE(streams.size() == 50);
  for (int i = 0; i < 50; ++i) CHECK(streams[i].label == labels[i]);
  for (const Stream& stream : streams) {
    const auto found = world.database().catalog().find_stream(scope, "carts", stream.label);
    REQUIRE(found);
    CHECK(found->id == stream.id);
  }
  CHECK_FALSE(world.database().catalog().find_stream(scope, "cart", labels[0]));
  CHECK_FALSE(world.database().catalog().find_stream({"000000000042", "us-east-1"}, "carts", labels[0]));
  CHECK(world.database().catalog().streams(Scope{"000000000042", "us-east-1"}).empty());
  CHECK(world.database().catalog().streams(Scope{"000000000000", "eu-west-1"}).size() == 1);
}

TEST_CASE("erasing a stream keeps a newer stream with the same name", "[catalog]") {
  Stream stream = stream_of(StreamView::keys_only);
  stream.account = "000000000000";
  stream.region = "us-east-1";
  stream.table_name = "carts";
  stream.label = "2024-05-01T00:00:00.000";
  StreamDirectory streams;
  stream.id = 1;
  streams.put(stream);
  stream.id = 2;
  streams.put(stream);
  streams.erase(1);
  streams.erase(1);
  REQUIRE(streams.find("000000000000", "us-east-1", "carts", stream.label));
  CHECK(streams.find("000000000000", "us-east-1", "carts", stream.label)->id == 2);
  CHECK(streams.last_of("000000000000", "us-east-1", "carts")->id == 2);
  CHECK(streams.last_of("000000000000", "us-east-1", "cart") == nullptr);
  CHECK(streams.last_of("000000000000", "us-east-1", "carts2") == nullptr);
  CHECK(streams.all().size() == 1);
}

TEST_CASE("tables and their indexes count as used memory until they are dropped", "[catalog]") {
  World world;
  constexpr std::uint64_t tables = 200, buffer_bytes = 300'000;  // how much storage's buffer can grow
  const std::uint64_t before = world.database().health().footprint_bytes();
  for (std::uint64_t i = 0; i < tables; ++i) {
    Table table = simple_table("table" + std::to_string(i));
    table.indexes = {global_index("by_user", "user")};
    world.create(table);
  }
  const std::uint64_t with = world.database().health().footprint_bytes();
  CHECK(with >= before + tables * 3800);
  for (std::uint64_t i = 0; i < tables; ++i)
    REQUIRE(world.database().tables().drop(world.find("table" + std::to_string(i))));
  CHECK(world.database().health().footprint_bytes() <= before + buffer_bytes);
}

}  // namespace mayfly::testing
