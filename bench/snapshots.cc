// Measures the costs for a test suite that restores a snapshot before each test: taking the snapshot,
// restoring it, the writes in between, and memory after many rounds. The engine is called directly. The
// database is in memory, and its table has an index, TTL and a stream.
//
//   bench_snapshots
#include "engine/background/snapshots.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "bench/report.h"
#include "engine/database.h"
#include "engine/items/transaction.h"
#include "engine/values/key_codec.h"

namespace mayfly::bench {
namespace {

using namespace mayfly::engine;
using std::chrono::steady_clock;

constexpr std::string_view account = "000000000000";
constexpr std::int64_t now_seconds = 1'800'000'000;

double milliseconds_since(steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(steady_clock::now() - begin).count();
}

double resident_mb() {
  std::ifstream file("/proc/self/statm");
  double all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct World {
  World() {
    auto opened = Database::open({.account_clocks = {{ClockSetting::Mode::frozen}, now_seconds * 1000}});
    if (!opened) std::abort();
    database = *std::move(opened);
    Table table;
    table.account = account;
    table.region = "us-east-1";
    table.name = "carts";
    table.attribute_definitions = {{"id", ScalarType::string}, {"user", ScalarType::string}};
    table.keys = {{{"id", ScalarType::string}}, {}};
    Index index;
    index.name = "by_user";
    index.keys = {{{"user", ScalarType::string}}, {}};
    table.indexes = {index};
    table.stream = Stream{};
    carts = database->tables().create(table);
    database->tables().update(carts, [](Table& edited) { edited.ttl = TimeToLive{"ttl"}; });
  }

  void put(int id, int version) {
    const auto live = database->catalog().find({std::string(account), "us-east-1"}, "carts");
    const AttributeValue name(std::to_string(id));
    const AttributeValue* partition[] = {&name};
    std::string key;
    append_key(key, partition, {});
    Transaction transaction(database->write_path(), Cause::user);
    const auto slot = transaction.add(live, key);
    if (!transaction.lock()) std::abort();
    transaction.put(slot, Item{{"id", name},
                               {"data", std::string(200, 'x') + std::to_string(version)},
                               {"ttl", Number(now_seconds + 1000 + version)},
                               {"user", "user " + std::to_string(id % 100)}});
    transaction.commit();
  }

  std::unique_ptr<Database> database;
  std::shared_ptr<LiveTable> carts;
};

void restores(int items, int changed) {
  World world;
  for (int id = 0; id < items; ++id) world.put(id, 0);
  const auto begin = steady_clock::now();
  const SnapshotId snapshot = world.database->snapshots().take(account);
  const double take_ms = milliseconds_since(begin);

  constexpr int rounds = 500;
  std::vector<double> restore_ms, write_us;
  double after_fifty = 0;
  for (int round = 1; round <= rounds; ++round) {
    const auto before_writes = steady_clock::now();
    for (int i = 0; i < changed; ++i) world.put((round * 37 + i * 101) % items, round);
    write_us.push_back(milliseconds_since(before_writes) * 1000 / changed);
    const auto before_restore = steady_clock::now();
    if (!world.database->snapshots().restore(account, snapshot)) std::abort();
    restore_ms.push_back(milliseconds_since(before_restore));
    if (round == 50) after_fifty = resident_mb();
  }
  Report report(std::to_string(items) + " items, " + std::to_string(changed) + " changed before each restore",
                "");
  report.row("taking the snapshot, ms", take_ms);
  report.row("a restore, median, ms", median(restore_ms));
  report.row("a restore, the slowest of " + std::to_string(rounds) + ", ms",
             *std::max_element(restore_ms.begin(), restore_ms.end()));
  report.row("a write between restores, median, us", median(write_us));
  report.row("resident after 50 restores, MB", after_fifty);
  report.row("resident after " + std::to_string(rounds) + " restores, MB", resident_mb());
  report.print();
}

void writes() {
  constexpr int items = 10'000, writes = 10'000;
  const auto write_us = [](bool kept, int distinct) {
    World world;
    for (int id = 0; id < items; ++id) world.put(id, 0);
    if (kept) (void)world.database->snapshots().take(account);
    const auto begin = steady_clock::now();
    for (int i = 0; i < writes; ++i) world.put(i % distinct, 1 + i);
    return milliseconds_since(begin) * 1000 / writes;
  };
  Report report("a write after a snapshot; ceiling: without a snapshot", "us");
  report.row("first change to an item", write_us(true, items), write_us(false, items), true);
  report.row("later change to an item", write_us(true, 100), write_us(false, 100), true);
  report.print();
}

}  // namespace
}  // namespace mayfly::bench

int main() {
  mayfly::bench::restores(10'000, 100);
  mayfly::bench::restores(100'000, 100);
  mayfly::bench::writes();
}
