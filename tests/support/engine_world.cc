#include "tests/support/engine_world.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "engine/background/reaper.h"
#include "engine/background/snapshot_heads.h"
#include "engine/background/snapshots.h"
#include "engine/database.h"
#include "engine/items/cursor.h"
#include "engine/items/item_reader.h"
#include "engine/schema/index_entries.h"
#include "engine/storage/key_space.h"
#include "engine/verify/table_verification.h"
#include "engine/verify/verification.h"

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

std::string key_of(const Table& table, const Item& item) { return table_key(table.keys, item); }

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

void World::wake_reaper() {
  Accounts& accounts = database_->accounts();
  for (Account* one : accounts.all()) accounts.reaper_waker().wake(*one);
}

TimerQueue& World::timers() { return database_->accounts().of(account).timers(); }

std::shared_ptr<LiveTable> World::find(std::string_view name) {
  return database_->catalog().find({"000000000000", "us-east-1"}, name);
}

void World::put(const std::shared_ptr<LiveTable>& table, Item item) {
  Transaction transaction(database_->write_path(), Cause::user);
  const auto slot = transaction.add(table, key_of(*table->description(), item));
  if (!transaction.lock()) throw std::runtime_error("the table no longer exists");
  transaction.put(slot, std::move(item));
  transaction.commit();
}

void World::remove(const std::shared_ptr<LiveTable>& table, const Item& key) {
  Transaction transaction(database_->write_path(), Cause::user);
  const auto slot = transaction.add(table, key_of(*table->description(), key));
  if (!transaction.lock()) throw std::runtime_error("the table no longer exists");
  transaction.remove(slot);
  transaction.commit();
}

std::optional<Item> World::get(const std::shared_ptr<LiveTable>& table, const Item& key) {
  auto stored = database_->reader().get(*table, key_of(*table->description(), key));
  if (!stored) return std::nullopt;
  return std::move(*stored).take();
}

std::vector<Item> World::all(const std::shared_ptr<LiveTable>& table, IndexId index) {
  std::vector<Item> items;
  Cursor cursor(database_->reader(), *table, {.index = index});
  while (cursor.next() || cursor.paused())
    if (!cursor.paused()) items.push_back(cursor.item().item());
  return items;
}

std::vector<ChangeRecord> World::records(StreamId stream, Sequence from) {
  std::vector<ChangeRecord> records;
  const std::optional<Stream> found = database_->catalog().find_stream(stream);
  for (const Shard& shard : found ? found->shards : std::vector<Shard>()) {
    auto page = database_->change_log().read(stream, shard.number, from, 1'000'000, 1 << 30);
    std::move(page.records.begin(), page.records.end(), std::back_inserter(records));
  }
  std::sort(records.begin(), records.end(),
            [](const ChangeRecord& a, const ChangeRecord& b) { return a.sequence < b.sequence; });
  return records;
}

void World::enable_ttl(const std::shared_ptr<LiveTable>& table, const std::string& attribute) {
  database_->tables().update(table, [&](Table& description) { description.ttl = TimeToLive{attribute}; });
}

std::string inconsistency(Database& database, const LiveTable* dropped) {
  const Storage& storage = database.storage();
  const Storage::Snapshot snapshot(storage);
  std::string first;
  Findings findings([&](const Finding& finding) {
    // The counters of a dropped table are no longer used.
    if (first.empty() && !(dropped != nullptr && finding.kind == "a wrong counter")) first = finding.text;
  });
  VerificationOf of{.host = database.options().clock.get(),
                    .now = [&](std::string_view id) { return database.accounts().of(id).now(); }};
  if (!storage.durable()) {
    of.snapshot_members = [&](std::string_view id, SnapshotId snapshot, char kind,
                              const SnapshotMembers::Visit& visit) {
      database.snapshots().each_member(id, snapshot, kind, visit);
    };
    of.counts = [&](TableId id, IndexId index) {
      if (index == old_versions) {
        const VersionCount count = database.catalog().find(id)->version_count();
        return Counts{count.versions, count.bytes};
      }
      const Counter& counter = database.catalog().find(id)->counter(index);
      return Counts{counter.items, counter.bytes};
    };
  }
  verify(storage, snapshot, of, findings);
  // If a snapshot keeps the data of a dropped table, the data is in the same place as before the drop.
  if (dropped != nullptr)
    TableVerification(KeyView(storage, snapshot), *dropped->description(), "a dropped table",
                      database.write_path().expiry, database.accounts().of(account).now(),
                      {table_prefix('N', dropped->id())}, findings)
        .run();
  return first;
}

std::string World::inconsistency(const std::shared_ptr<LiveTable>& table) {
  return testing::inconsistency(*database_, table->dropped() ? table.get() : nullptr);
}

}  // namespace mayfly::testing
