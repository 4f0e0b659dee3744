// Measures TTL at scale on the engine: lateness, deletions, clock jumps, restarts and idle cost.
//
//   bench_ttl           takes a minute
//   bench_ttl --large   also a million items due together, a million overdue at start, ten million pending
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "bench/raw_store.h"
#include "bench/report.h"
#include "engine/base/splitmix.h"
#include "engine/database.h"
#include "engine/items/item_reader.h"
#include "engine/items/transaction.h"
#include "engine/values/key_codec.h"

namespace mayfly::bench {
namespace {

using namespace mayfly::engine;
using std::chrono::steady_clock;

constexpr std::string_view account = "000000000000";
constexpr std::size_t written_at_once = 500;
constexpr Instant hour_ms = 3'600'000;

double seconds_since(steady_clock::time_point begin) {
  return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

// A temporary directory that is deleted when the object is destroyed.
class Directory {
 public:
  Directory() {
    std::string path = (std::filesystem::temp_directory_path() / "mayfly-bench-XXXXXX").string();
    if (!mkdtemp(path.data())) std::abort();
    path_ = path;
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::unique_ptr<Database> open(DatabaseOptions options) {
  auto database = Database::open(std::move(options));
  if (!database) {
    std::fprintf(stderr, "%s\n", database.error().c_str());
    std::exit(1);
  }
  return *std::move(database);
}

// Creates a table with a string key, with or without TTL and a stream.
std::shared_ptr<LiveTable> create_table(Database& database, const std::string& name, bool ttl, bool stream) {
  Table table;
  table.account = account;
  table.region = "us-east-1";
  table.name = name;
  table.attribute_definitions = {{"id", ScalarType::string}};
  table.keys = {{{"id", ScalarType::string}}, {}};
  if (ttl) table.ttl = TimeToLive{"ttl"};
  if (stream) table.stream = Stream{};
  return database.tables().create(std::move(table));
}

Item make_item(std::size_t number, Instant ttl_ms) {
  Item item = {{"id", "item-" + std::to_string(number)}, {"text", std::string(60, 'x')}};
  char ttl[32];
  std::snprintf(ttl, sizeof ttl, "%lld.%03lld", static_cast<long long>(ttl_ms / 1000),
                static_cast<long long>(ttl_ms % 1000));
  item.set("ttl", *Number::parse(ttl));
  return item;
}

std::string key_of(const Item& item) {
  std::string key;
  const AttributeValue* const partition[] = {item.find("id")};
  append_key(key, partition, {});
  return key;
}

// Writes `count` items. `ttl_ms_of(number)` is the time at which the item with this number expires.
template <class Ttl>
void fill(Database& database, const std::shared_ptr<LiveTable>& table, std::size_t count, Ttl ttl_ms_of) {
  for (std::size_t begin = 0; begin < count; begin += written_at_once) {
    Transaction transaction(database.write_path(), Cause::user);
    std::vector<Item> items;
    for (std::size_t i = begin; i < std::min(count, begin + written_at_once); ++i)
      items.push_back(make_item(i, ttl_ms_of(i)));
    for (const Item& item : items) transaction.add(table, key_of(item));
    if (!transaction.lock()) std::abort();
    for (std::size_t slot = 0; slot < items.size(); ++slot) transaction.put(slot, std::move(items[slot]));
    transaction.commit();
  }
}

// Reads and writes another table as fast as possible until the Load is destroyed.
class Load {
 public:
  Load(Database& database, bool runs) {
    if (!runs) return;
    auto table = create_table(database, "load", false, true);
    fill(database, table, 1000, [](std::size_t) { return 0; });
    thread_ = std::thread([this, &database, table] {
      for (std::size_t i = 0; !stop_; ++i) {
        const Item item = make_item(i % 1000, static_cast<Instant>(i));
        if (i % 4 != 0) {
          (void)database.reader().get(*table, key_of(item));
        } else {
          Transaction transaction(database.write_path(), Cause::user);
          const auto slot = transaction.add(table, key_of(item));
          if (!transaction.lock()) std::abort();
          transaction.put(slot, item);
          transaction.commit();
        }
        ++requests_;
      }
    });
  }
  ~Load() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] std::int64_t requests() const { return requests_; }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<std::int64_t> requests_{0};
  std::thread thread_;
};

// Measures how late items are deleted. The `count` items fall due over one second of real time, some in each
// millisecond.
void lag(std::size_t count, bool loaded) {
  auto database = open({});
  auto table = create_table(*database, "carts", true, true);
  const Instant due = database->accounts().of(account).now() + 1000 +
                      static_cast<Instant>(count / 50);  // after all items are written
  fill(*database, table, count, [&](std::size_t i) { return due + static_cast<Instant>(i % 1000); });
  const double late_s = static_cast<double>(database->accounts().of(account).now() - due) / 1000;
  if (late_s > 0) std::fprintf(stderr, "(written %.1f s too late; the lag includes that)\n", late_s);
  Load load(*database, loaded);
  while (database->accounts().of(account).now() < due)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto begin = steady_clock::now();
  const std::int64_t requests_before = load.requests();
  while (table->counter(0).items > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const double took_s = seconds_since(begin);
  const ExpiryStats& stats = table->expiry_stats();
  Report report(std::to_string(count) + " due in one second" + (loaded ? ", under load" : ""), "ms");
  report.row("deleted after due, p50", static_cast<double>(stats.lag_ms_at(0.5)));
  report.row("deleted after due, p99", static_cast<double>(stats.lag_ms_at(0.99)));
  report.row("deleted after due, max", static_cast<double>(stats.lag_ms_max()));
  report.row("all deleted", took_s * 1000);
  if (loaded)
    report.row("requests per second meanwhile",
               static_cast<double>(load.requests() - requests_before) / took_s);
  report.print();
}

// Measures RocksDB alone with the bytes, the order and the batch size of Mayfly's deletions. Keys are hashes,
// so items are written in random key order. Items that are due at the same instant expire in key order.
double raw_deletions_per_second(std::size_t count, bool spread) {
  RawStore store;
  const std::string image(100, 'x');
  const auto padded = [](std::uint64_t number) {
    char text[24];
    std::snprintf(text, sizeof text, "%020llu", static_cast<unsigned long long>(number));
    return std::string(text);
  };
  struct Keys {
    std::string item, expiry, record;
  };
  std::vector<Keys> keys;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string key = padded(mix(i));
    keys.push_back({"I" + key, "X" + padded(spread ? i : 0) + key, {}});
  }
  for (const Keys& each : keys) {
    rocksdb::WriteBatch batch;
    batch.Put(each.item, image);
    batch.Put(each.expiry, "");
    store.write(batch);
  }
  std::sort(keys.begin(), keys.end(),
            [](const Keys& one, const Keys& other) { return one.expiry < other.expiry; });
  for (std::size_t i = 0; i < count; ++i) keys[i].record = "S" + padded(i);
  const auto begin = steady_clock::now();
  std::string old_image;
  for (std::size_t i = 0; i < count;) {
    rocksdb::WriteBatch batch;
    for (const std::size_t end = std::min(count, i + 64); i < end; ++i) {
      store.get(keys[i].item, old_image);
      batch.Delete(keys[i].item);
      batch.Delete(keys[i].expiry);
      batch.Put(keys[i].record, old_image);
    }
    store.write(batch);
  }
  return static_cast<double>(count) / seconds_since(begin);
}

void deletions(std::size_t count) {
  Report report(std::to_string(count) + " expiries by a clock jump", "items/s");
  for (const bool spread : {false, true}) {
    const double ceiling = raw_deletions_per_second(count, spread);
    auto database = open({.account_clocks = {{ClockSetting::Mode::frozen}, {}}, .reap = false});
    auto table = create_table(*database, "carts", true, true);
    const Instant start = database->accounts().of(account).now();
    fill(*database, table, count,
         [&](std::size_t i) { return start + (spread ? static_cast<Instant>(i) : 0); });
    const auto begin = steady_clock::now();
    if (database->time_travel().advance(account, start + hour_ms).expired != static_cast<std::int64_t>(count))
      std::abort();
    report.row(spread ? "each due at another instant" : "all due at one instant",
               static_cast<double>(count) / seconds_since(begin), ceiling);
  }
  report.print();
}

// Measures writes with and without TTL. With TTL, each write stores one more key.
void writes(std::size_t count) {
  Report report("writes, in batches", "items/s");
  for (const bool ttl : {false, true}) {
    auto database = open({.reap = false});
    auto table = create_table(*database, "carts", ttl, false);
    const Instant start = database->accounts().of(account).now();
    const auto begin = steady_clock::now();
    fill(*database, table, count, [&](std::size_t i) { return start + hour_ms + static_cast<Instant>(i); });
    report.row(ttl ? "TTL on" : "TTL off", static_cast<double>(count) / seconds_since(begin));
  }
  report.print();
}

double resident_mb() {
  std::ifstream statm("/proc/self/statm");
  double size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Measures a restart at which all items are overdue.
void restart(std::size_t count) {
  const Directory directory;
  {
    auto database = open({.directory = directory.path(), .reap = false});
    auto table = create_table(*database, "carts", true, true);
    const Instant start = database->accounts().of(account).now();
    fill(*database, table, count, [&](std::size_t) { return start - 1000; });
  }
  const auto begin = steady_clock::now();
  auto database = open({.directory = directory.path()});
  auto table = database->catalog().find({std::string(account), "us-east-1"}, "carts");
  (void)database->reader().get(*table, key_of(make_item(count - 1, 0)));
  const double first_answer_s = seconds_since(begin);
  while (table->counter(0).items > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  Report report("a restart with " + std::to_string(count) + " overdue, on disk", "ms");
  report.row("first read", first_answer_s * 1000);
  report.row("all deleted", seconds_since(begin) * 1000);
  report.print();
}

void idle(std::size_t count) {
  const Directory directory;
  {
    auto database = open({.directory = directory.path()});
    auto table = create_table(*database, "carts", true, false);
    const Instant start = database->accounts().of(account).now();
    fill(*database, table, count,
         [&](std::size_t i) { return start + 1000 * hour_ms + static_cast<Instant>(i); });
  }
  const double before_mb = resident_mb();
  const auto begin = steady_clock::now();
  auto database = open({.directory = directory.path()});
  const double open_s = seconds_since(begin);
  std::this_thread::sleep_for(std::chrono::seconds(2));  // for RocksDB's background work
  const double cpu_before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::seconds(10));
  Report report(std::to_string(count) + " pending, on disk, nothing due", "");
  report.row("opening, ms", open_s * 1000);
  report.row("CPU in ten seconds, ms", (cpu_seconds() - cpu_before) * 1000);
  report.row("increase of resident memory, MB", resident_mb() - before_mb);
  report.print();
}

}  // namespace
}  // namespace mayfly::bench

int main(int argc, char** argv) {
  using namespace mayfly::bench;
  const bool large = argc > 1 && std::strcmp(argv[1], "--large") == 0;
  for (const std::size_t count : {1'000, 100'000, 1'000'000}) {
    if (count > 100'000 && !large) continue;
    for (const bool loaded : {false, true}) lag(count, loaded);
  }
  deletions(100'000);
  writes(100'000);
  if (!large) return 0;
  restart(1'000'000);
  idle(10'000'000);
}
