#include "tests/support/engine_world.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>

#include "engine/expiry_index.h"
#include "engine/index_entries.h"
#include "engine/item_codec.h"
#include "engine/item_size.h"
#include "engine/key_codec.h"
#include "engine/key_space.h"
#include "engine/parts.h"

namespace mayfly::testing {

using namespace engine;

AttributeValue number(std::string_view text) { return *Number::parse(text); }
AttributeValue number(std::int64_t value) { return Number(value); }

Table simple_table(std::string name) {
  Table table;
  table.account = account;
  table.region = "us-east-1";
  table.name = std::move(name);
  table.attribute_definitions = {{"id", ScalarType::string}};
  table.keys = {{{"id", ScalarType::string}}, {}};
  return table;
}

Table sorted_table(std::string name) {
  Table table = simple_table(std::move(name));
  table.attribute_definitions.push_back({"at", ScalarType::number});
  table.keys = {{{"id", ScalarType::string}}, {{"at", ScalarType::number}}};
  return table;
}

Index global_index(std::string name, std::string attribute, Projection::Kind projection) {
  Index index;
  index.name = std::move(name);
  index.keys = {{{std::move(attribute), ScalarType::string}}, {}};
  index.projection.kind = projection;
  return index;
}

Index local_index(std::string name, std::string attribute) {
  Index index;
  index.name = std::move(name);
  index.kind = Index::Kind::local;
  index.keys = {{{"id", ScalarType::string}}, {{std::move(attribute), ScalarType::string}}};
  return index;
}

Stream stream_of(StreamView view) {
  Stream stream;
  stream.view = view;
  return stream;
}

std::string key_of(const Table& table, const Item& item) {
  std::vector<const AttributeValue*> partition, sort;
  for (const KeyAttribute& attribute : table.keys.partition()) partition.push_back(item.find(attribute.name));
  for (const KeyAttribute& attribute : table.keys.sort()) sort.push_back(item.find(attribute.name));
  std::string key;
  append_key(key, partition, sort);
  return key;
}

Directory::Directory() {
  std::string path = (std::filesystem::temp_directory_path() / "mayfly-test-XXXXXX").string();
  if (!mkdtemp(path.data())) throw std::runtime_error("no temporary directory");
  path_ = path;
}

Directory::~Directory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

World::World(DatabaseOptions options) : options_(std::move(options)) {
  if (!options_.clock) {
    clock_ = std::make_shared<ManualClock>(start_ms);
    options_.clock = clock_;
  }
  reopen();
}

void World::reopen() {
  database_.reset();
  auto opened = Database::open(options_);
  if (!opened) throw std::runtime_error(opened.error());
  database_ = *std::move(opened);
}

TimerQueue& World::timers() { return database_->parts().accounts.of(account).timers(); }

std::shared_ptr<LiveTable> World::find(std::string_view name) {
  return database_->find_table({"000000000000", "us-east-1"}, name);
}

void World::put(const std::shared_ptr<LiveTable>& table, Item item) {
  Transaction transaction(*database_, Cause::user);
  const auto slot = transaction.add(table, key_of(*table->description(), item));
  if (!transaction.lock()) throw std::runtime_error("the table is gone");
  transaction.put(slot, std::move(item));
  transaction.commit();
}

void World::remove(const std::shared_ptr<LiveTable>& table, const Item& key) {
  Transaction transaction(*database_, Cause::user);
  const auto slot = transaction.add(table, key_of(*table->description(), key));
  if (!transaction.lock()) throw std::runtime_error("the table is gone");
  transaction.remove(slot);
  transaction.commit();
}

std::optional<Item> World::get(const std::shared_ptr<LiveTable>& table, const Item& key) {
  auto stored = database_->get(*table, key_of(*table->description(), key));
  if (!stored) return std::nullopt;
  return std::move(*stored).take();
}

std::vector<Item> World::all(const std::shared_ptr<LiveTable>& table, IndexId index) {
  std::vector<Item> items;
  Cursor cursor(*database_, *table, {.index = index});
  while (cursor.next() || cursor.paused())
    if (!cursor.paused()) items.push_back(cursor.item().item());
  return items;
}

std::vector<ChangeRecord> World::records(StreamId stream, Sequence from) {
  std::vector<ChangeRecord> records;
  const std::optional<Stream> found = database_->parts().catalog.find_stream(stream);
  for (const Shard& shard : found ? found->shards : std::vector<Shard>()) {
    auto page = database_->read_stream(stream, shard.number, from, 1'000'000, 1 << 30);
    std::move(page.records.begin(), page.records.end(), std::back_inserter(records));
  }
  std::sort(records.begin(), records.end(),
            [](const ChangeRecord& a, const ChangeRecord& b) { return a.sequence < b.sequence; });
  return records;
}

void World::enable_ttl(const std::shared_ptr<LiveTable>& table, const std::string& attribute) {
  database_->update_table(table, [&](Table& description) { description.ttl = TimeToLive{attribute}; });
}

std::string World::inconsistency(const std::shared_ptr<LiveTable>& table) {
  const Storage& storage = database_->parts().storage();
  const Storage::Snapshot snapshot(storage);
  const std::shared_ptr<const Table> description = table->description();
  const Instant now = this->now();

  struct Totals {
    std::int64_t items = 0, bytes = 0;
  };
  std::map<IndexId, Totals> totals{{0, {}}, {expiry_entries, {}}};
  std::map<std::string, std::string> expected;  // index entries and expiry entries, whole
  const auto each = [&](const std::string& prefix, auto visit) {
    Storage::Iterator iterator(storage, prefix, prefix_end(prefix), &snapshot);
    for (iterator.seek_to_first(); iterator.valid(); iterator.next())
      visit(std::string(iterator.key()), std::string(iterator.value()));
  };
  each(item_key(table->id(), 0, {}), [&](const std::string& key, const std::string& value) {
    const std::string own_key = key.substr(item_prefix_bytes);
    const Item item = decode_item(value);
    totals[0].items += 1;
    totals[0].bytes += static_cast<std::int64_t>(item_size(item));
    for (const Index& index : description->indexes) {
      const std::string entry = index_entry_key(*description, index, item);
      if (entry.empty()) continue;
      expected[item_key(table->id(), index.id, entry)] = own_key;
      totals[index.id].items += 1;
      totals[index.id].bytes += static_cast<std::int64_t>(projected_size(*description, index, item));
    }
    const auto due = due_of(*description, item);
    if (due && !is_too_old(*due, now)) {
      expected[database_->parts().expiry.entry_key(table->id(), *due, own_key)] = "";
      totals[expiry_entries].items += 1;
    }
  });
  std::map<std::string, std::string> found;
  each(table_prefix('I', table->id()), [&](const std::string& key, const std::string& value) {
    if (read_big_endian<IndexId>(std::string_view(key).substr(5)) != 0) found[key] = value;
  });
  each(table_prefix('X', table->id()),
       [&](const std::string& key, const std::string& value) { found[key] = value; });
  for (const auto& [key, value] : expected) {
    const auto entry = found.find(key);
    if (entry == found.end()) return std::string("missing entry of kind ") + key[0];
    if (entry->second != value) return std::string("wrong entry of kind ") + key[0];
  }
  if (found.size() != expected.size())
    for (const auto& [key, value] : found)
      if (!expected.count(key)) return std::string("left-over entry of kind ") + key[0];
  if (table->dropped()) return {};  // nobody asks its counters any more
  for (const auto& [index, total] : totals) {
    const Counter& counter = table->counter(index);
    if (counter.items != total.items || counter.bytes != total.bytes)
      return "counter of index " + std::to_string(index) + " says " + std::to_string(counter.items) +
             " items, " + std::to_string(counter.bytes) + " bytes; there are " + std::to_string(total.items) +
             ", " + std::to_string(total.bytes);
  }
  return {};
}

}  // namespace mayfly::testing
