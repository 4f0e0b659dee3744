// Measures Mayfly in process through mayfly.h (JSON in and out, no sockets), and compares it with RocksDB
// alone, which stores the same bytes.
#include <algorithm>
#include <atomic>
#include <benchmark/benchmark.h>
#include <chrono>
#include <map>
#include <rocksdb/write_batch.h>
#include <string>
#include <thread>
#include <vector>

#include "bench/raw_store.h"
#include "bench/report.h"
#include "mayfly/mayfly.h"

namespace mayfly::bench {
namespace {

using std::chrono::milliseconds;

constexpr int item_count = 10'000;
constexpr int query_items = 20;
constexpr int expiry_count = 20'000;
constexpr int lag_count = 500;
constexpr int repetitions = 4;

// The instant at which clocks are frozen: 2022-07-19T21:28:00Z.
constexpr TimePoint start{milliseconds{1658266080000}};

std::string sort_key(int number) { return std::to_string(1'000'000 + number); }

// A value as large as a stored item, about 1 KB.
const std::string stored_item(1000, 'x');

std::string item(int number, const std::string& rest = {}) {
  return R"({"p":{"S":"partition"},"s":{"S":")" + sort_key(number) +
         R"("},"created":{"N":"1658266080"},"tags":{"SS":["one","three","two"]},"active":{"BOOL":true},)"
         R"("address":{"M":{"street":{"S":"Main Street"},"number":{"N":"42"}}},"text":{"S":")" +
         std::string(850, 'x') + "\"}" + rest + "}";
}

std::string put_request(int number, const std::string& rest = {}) {
  return R"({"TableName":"bench","Item":)" + item(number, rest) + "}";
}

std::string get_request(int number) {
  return R"({"TableName":"bench","Key":{"p":{"S":"partition"},"s":{"S":")" + sort_key(number) + R"("}}})";
}

std::string execute(Emulator& emulator, std::string_view operation, std::string_view body) {
  Answer answer = emulator.execute(operation, body);
  if (answer.status != 200) {
    std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(operation.size()), operation.data(),
                 answer.body.c_str());
    std::exit(1);
  }
  return std::move(answer.body);
}

// Creates a table with the keys p and s. If `full` is true, adds TTL, a stream and a global index, so that a
// write stores four keys.
void create_table(Emulator& emulator, bool full) {
  const std::string attributes =
      R"({"AttributeName":"p","AttributeType":"S"},{"AttributeName":"s","AttributeType":"S"})";
  const std::string rest =
      !full ? "" : R"(,"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"},
                "GlobalSecondaryIndexes":[{"IndexName":"by_s","Projection":{"ProjectionType":"ALL"},
                  "KeySchema":[{"AttributeName":"s","KeyType":"HASH"}]}])";
  execute(
      emulator, "CreateTable",
      R"({"TableName":"bench","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[)" + attributes +
          R"(],"KeySchema":[{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"s","KeyType":"RANGE"}])" +
          rest + "}");
  if (full) {
    execute(emulator, "UpdateTimeToLive",
            R"({"TableName":"bench","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}})");
  }
}

void fill(Emulator& emulator) {
  create_table(emulator, false);
  for (int i = 0; i < item_count; ++i) execute(emulator, "PutItem", put_request(i));
}

void fill(RawStore& store) {
  for (int i = 0; i < item_count; ++i) store.put(sort_key(i), stored_item);
}

// Returns the item number of a turn. The numbers form a fixed sequence that is spread over the table.
int spread(std::size_t turn) { return static_cast<int>(turn * 7919 % item_count); }

std::vector<std::string> requests(std::string (*make)(int)) {
  std::vector<std::string> all;
  for (int i = 0; i < 1000; ++i) all.push_back(make(spread(static_cast<std::size_t>(i))));
  return all;
}

void run_requests(benchmark::State& state, Emulator& emulator, std::string_view operation,
                  const std::vector<std::string>& bodies) {
  std::size_t turn = 0;
  for (auto _ : state) benchmark::DoNotOptimize(emulator.execute(operation, bodies[turn++ % bodies.size()]));
}

void get_item(benchmark::State& state) {
  Emulator emulator;
  fill(emulator);
  run_requests(state, emulator, "GetItem", requests(get_request));
}

void get_item_ceiling(benchmark::State& state) {
  RawStore store;
  fill(store);
  std::string value;
  std::size_t turn = 0;
  for (auto _ : state) store.get(sort_key(spread(turn++)), value);
}

void put_item(benchmark::State& state) {
  Emulator emulator;
  fill(emulator);
  run_requests(state, emulator, "PutItem", requests([](int number) { return put_request(number); }));
}

void put_item_ceiling(benchmark::State& state) {
  RawStore store;
  fill(store);
  std::size_t turn = 0;
  for (auto _ : state) store.put(sort_key(spread(turn++)), stored_item);
}

// Each item's first write stores the item, an index entry, an expiry entry and a change record.
void put_item_full(benchmark::State& state) {
  Emulator emulator(Options{.frozen_at = start});
  create_table(emulator, true);
  int number = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const std::string request = put_request(number++, R"(,"ttl":{"N":"1658269680"})");
    state.ResumeTiming();
    benchmark::DoNotOptimize(emulator.execute("PutItem", request));
  }
}

void put_item_full_ceiling(benchmark::State& state) {
  RawStore store;
  int number = 0;
  for (auto _ : state) {
    const std::string key = sort_key(number++);
    rocksdb::WriteBatch batch;
    batch.Put("item" + key, stored_item);
    batch.Put("index" + key, stored_item);
    batch.Put("expiry" + key, "");
    batch.Put("record" + key, stored_item);
    store.write(batch);
  }
}

void query(benchmark::State& state) {
  Emulator emulator;
  fill(emulator);
  run_requests(state, emulator, "Query", requests([](int number) {
                 return R"({"TableName":"bench","KeyConditionExpression":"p = :p AND s >= :s","Limit":)" +
                        std::to_string(query_items) +
                        R"(,"ExpressionAttributeValues":{":p":{"S":"partition"},":s":{"S":")" +
                        sort_key(std::min(number, item_count - query_items)) + R"("}}})";
               }));
}

void query_ceiling(benchmark::State& state) {
  RawStore store;
  fill(store);
  std::size_t turn = 0;
  std::string page;
  for (auto _ : state) {
    page.clear();
    auto iterator = store.iterator();
    iterator->Seek(sort_key(std::min(spread(turn++), item_count - query_items)));
    for (int i = 0; i < query_items; ++i, iterator->Next()) page += iterator->value().ToStringView();
    benchmark::DoNotOptimize(page);
  }
}

// Items fall due over one minute, and the clock jumps past that minute. The result is the time per expiry.
void expiry(benchmark::State& state) {
  for (auto _ : state) {
    Emulator emulator(Options{.frozen_at = start});
    create_table(emulator, true);
    for (int i = 0; i < expiry_count; ++i) {
      execute(emulator, "PutItem",
              put_request(i, R"(,"ttl":{"N":")" + std::to_string(1658266080 + i % 60) + R"("})"));
    }
    const auto begin = std::chrono::steady_clock::now();
    if (emulator.advance(std::chrono::minutes(2)).expired != expiry_count)
      state.SkipWithError("not all expired");
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() /
                           expiry_count);
  }
}

// Measures RocksDB alone with the reads and writes of an expiry: for each item, it reads the old image,
// deletes the item, its index entry and its expiry entry, and writes the record. Writes and deletions are
// batched.
void expiry_ceiling(benchmark::State& state) {
  constexpr int batch_items = 100;
  for (auto _ : state) {
    RawStore store;
    for (int i = 0; i < expiry_count; ++i) {
      const std::string key = sort_key(i);
      rocksdb::WriteBatch batch;
      batch.Put("item" + key, stored_item);
      batch.Put("index" + key, stored_item);
      batch.Put("expiry" + key, "");
      store.write(batch);
    }
    const auto begin = std::chrono::steady_clock::now();
    std::string image;
    for (int i = 0; i < expiry_count;) {
      rocksdb::WriteBatch batch;
      for (int end = i + batch_items; i < end; ++i) {
        const std::string key = sort_key(i);
        store.get("item" + key, image);
        batch.Delete("item" + key);
        batch.Delete("index" + key);
        batch.Delete("expiry" + key);
        batch.Put("record" + key, image);
      }
      store.write(batch);
    }
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() /
                           expiry_count);
  }
}

// Keeps the best figure of each benchmark, because other load on the machine can only make a figure worse.
// Prints nothing.
class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.error_occurred) {
        std::fprintf(stderr, "%s: %s\n", run.benchmark_name().c_str(), run.error_message.c_str());
        std::exit(1);
      }
      if (run.run_type != Run::RT_Iteration) continue;
      const double us = run.GetAdjustedRealTime() / 1000;
      const auto [figure, first] = figures_us_.try_emplace(run.run_name.function_name, us);
      if (!first) figure->second = std::min(figure->second, us);
    }
  }
  [[nodiscard]] double us(const std::string& name) const { return figures_us_.at(name); }

 private:
  std::map<std::string, double> figures_us_;
};

// Returns the number of requests per second on one emulator. Each list of request bodies gets its own thread.
double requests_a_second(Emulator& emulator, std::string_view operation,
                         const std::vector<std::vector<std::string>>& bodies_by_thread) {
  std::atomic<bool> ends{false};
  std::atomic<std::uint64_t> done{0};
  std::vector<std::thread> threads;
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& bodies : bodies_by_thread) {
    threads.emplace_back([&] {
      std::uint64_t count = 0;
      for (; !ends.load(std::memory_order_relaxed); ++count) {
        if (emulator.execute(operation, bodies[count % bodies.size()]).status != 200) std::exit(1);
      }
      done += count;
    });
  }
  std::this_thread::sleep_for(milliseconds(500));
  ends = true;
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(done) /
         std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// One thread and two threads take turns, so that other load on the machine affects both.
void report_threads() {
  constexpr int turns = 5;
  Emulator emulator;
  fill(emulator);
  const auto bodies = [](bool put, int thread) {
    std::vector<std::string> all;
    for (int i = 0; i < 1000; ++i) {
      const int number = (spread(static_cast<std::size_t>(i)) & ~1) + thread;
      all.push_back(put ? put_request(number) : get_request(number));
    }
    return all;
  };
  Report report("two threads in process, each with its own keys; ceiling: twice one thread", "requests/s");
  for (const bool put : {false, true}) {
    double one = 0, two = 0;
    for (int turn = 0; turn < turns; ++turn) {
      const std::string_view operation = put ? "PutItem" : "GetItem";
      one = std::max(one, requests_a_second(emulator, operation, {bodies(put, 0)}));
      two = std::max(two, requests_a_second(emulator, operation, {bodies(put, 0), bodies(put, 1)}));
    }
    report.row(put ? "PutItem of 1 KB, replacing" : "GetItem of 1 KB", two, 2 * one);
  }
  report.print();
}

// Measures the time from the instant at which an item is due until a GetRecords call returns the item's
// REMOVE record, on the host's clock.
void report_lag() {
  using std::chrono::system_clock;
  Emulator emulator;
  create_table(emulator, true);
  const auto due = std::chrono::ceil<std::chrono::seconds>(system_clock::now() + milliseconds(500));
  const std::string ttl = std::to_string(due.time_since_epoch().count());
  for (int i = 0; i < lag_count; ++i)
    execute(emulator, "PutItem", put_request(i, R"(,"ttl":{"N":")" + ttl + "\"}"));

  const auto text_after = [](const std::string& body, const std::string& name) {
    const auto begin = body.find("\"" + name + "\":\"") + name.size() + 4;
    return body.substr(begin, body.find('"', begin) - begin);
  };
  const std::string streams = execute(emulator, "ListStreams", "{}");
  const std::string arn = R"({"StreamArn":")" + text_after(streams, "StreamArn") + "\"";
  const std::string shard = text_after(execute(emulator, "DescribeStream", arn + "}"), "ShardId");
  std::string iterator =
      text_after(execute(emulator, "GetShardIterator",
                         arn + R"(,"ShardIteratorType":"LATEST","ShardId":")" + shard + "\"}"),
                 "ShardIterator");
  std::vector<double> lags_ms;
  const auto deadline = due + std::chrono::seconds(20);
  std::this_thread::sleep_until(due);
  while (lags_ms.size() < lag_count && system_clock::now() < deadline) {
    const std::string page = execute(emulator, "GetRecords", R"({"ShardIterator":")" + iterator + "\"}");
    // An item is due one millisecond after its TTL.
    const double lag = std::chrono::duration<double, std::milli>(system_clock::now() - due).count() - 1;
    constexpr std::string_view removed = R"("eventName":"REMOVE")";
    for (auto at = page.find(removed); at != page.npos; at = page.find(removed, at + 1))
      lags_ms.push_back(lag);
    iterator = text_after(page, "NextShardIterator");
  }
  if (lags_ms.size() != lag_count) {
    std::fprintf(stderr, "%zu of %d items expired\n", lags_ms.size(), lag_count);
    std::exit(1);
  }
  // For comparison: how late a sleeping thread wakes up.
  std::vector<double> wakes_ms;
  for (int i = 0; i < 100; ++i) {
    const auto instant = system_clock::now() + milliseconds(2);
    std::this_thread::sleep_until(instant);
    wakes_ms.push_back(std::chrono::duration<double, std::milli>(system_clock::now() - instant).count());
  }
  std::sort(lags_ms.begin(), lags_ms.end());
  std::sort(wakes_ms.begin(), wakes_ms.end());
  Report report("500 items due at once: from due to GetRecords", "ms");
  report.row("p50", lags_ms[lag_count / 2]);
  report.row("p99", lags_ms[lag_count * 99 / 100]);
  report.row("delay of a sleeping thread's wake-up, p50", wakes_ms[50]);
  report.row("delay of a sleeping thread's wake-up, p99", wakes_ms[99]);
  report.print();
}

}  // namespace
}  // namespace mayfly::bench

int main(int argc, char** argv) {
  using namespace mayfly::bench;
  benchmark::Initialize(&argc, argv);
  const std::vector<
      std::pair<std::string, std::pair<void (*)(benchmark::State&), void (*)(benchmark::State&)>>>
      pairs = {{"GetItem of 1 KB", {get_item, get_item_ceiling}},
               {"PutItem of 1 KB, replacing", {put_item, put_item_ceiling}},
               {"PutItem with TTL, stream, index: 4 keys", {put_item_full, put_item_full_ceiling}},
               {"Query of 20 items", {query, query_ceiling}}};
  for (const auto& [name, functions] : pairs) {
    benchmark::RegisterBenchmark(name.c_str(), functions.first)->MinTime(0.3)->Repetitions(repetitions);
    benchmark::RegisterBenchmark((name + " ceiling").c_str(), functions.second)
        ->MinTime(0.3)
        ->Repetitions(repetitions);
  }
  benchmark::RegisterBenchmark("expiry", expiry)->Iterations(1)->Repetitions(repetitions)->UseManualTime();
  benchmark::RegisterBenchmark("expiry ceiling", expiry_ceiling)
      ->Iterations(1)
      ->Repetitions(repetitions)
      ->UseManualTime();
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);

  Report times("in process; ceiling: RocksDB alone", "us");
  for (const auto& [name, functions] : pairs) {
    times.row(name, collector.us(name), collector.us(name + " ceiling"), true);
  }
  times.print();
  report_threads();
  Report expiries("expiry by a clock jump", "items/s");
  expiries.row("20,000 items of 1 KB, TTL, stream, index", 1e6 / collector.us("expiry"),
               1e6 / collector.us("expiry ceiling"));
  expiries.print();
  report_lag();
}
