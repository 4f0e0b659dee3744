// Measures the cost of a table's history. Compares writes with point-in-time recovery on and off, and
// measures the cost of taking a point in time, of the writes that follow, and of restoring a table from the
// point. The database is in memory. A write is a PutItem call in process, with JSON for the request and the
// response.
//
//   bench_history
#include "engine/background/history.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "bench/report.h"
#include "compat/emulator.h"
#include "engine/items/fill.h"
#include "engine/items/history_cursor.h"

namespace mayfly::bench {
namespace {

using namespace mayfly::engine;
using std::chrono::steady_clock;

const Scope scope{"000000000000", "us-east-1"};
constexpr int items = 10'000;
constexpr int writes = 20'000;
constexpr int turns = 9;

double milliseconds_since(steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct World {
  // If `streamed` is true, adds a stream and a global index, so that a write stores more keys.
  explicit World(bool streamed) {
    auto opened = compat::Emulator::open({});
    if (!opened) std::abort();
    emulator = *std::move(opened);
    execute(
        "CreateTable",
        std::string(
            R"({"TableName":"bench","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"p",)"
            R"("KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"})") +
            (streamed
                 ? R"(,{"AttributeName":"s","AttributeType":"S"}],"GlobalSecondaryIndexes":[{"IndexName":"by_s",)"
                   R"("Projection":{"ProjectionType":"ALL"},"KeySchema":[{"AttributeName":"s","KeyType":"HASH"}]}],)"
                   R"("StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}})"
                 : "]}"));
    table = emulator->database().catalog().find(scope, "bench");
  }

  void execute(std::string_view operation, const std::string& body) {
    const auto answer = emulator->execute(scope, "DynamoDB_20120810." + std::string(operation), body);
    if (answer.status == 200) return;
    std::fprintf(stderr, "%s\n", answer.body.c_str());
    std::exit(1);
  }

  static std::string put_request(int number, int version, std::size_t text_bytes) {
    return R"({"TableName":"bench","Item":{"p":{"S":"item )" + std::to_string(number) +
           R"("},"s":{"S":"sort"},"n":{"N":")" + std::to_string(version) +
           R"("},"tags":{"SS":["one","three","two"]},"text":{"S":")" + std::string(text_bytes, 'x') + "\"}}}";
  }
  void fill(int count, std::size_t text_bytes) {
    for (int i = 0; i < count; ++i) execute("PutItem", put_request(i, 0, text_bytes));
  }

  std::unique_ptr<compat::Emulator> emulator;
  std::shared_ptr<LiveTable> table;
};

// Returns the average time of a write. The writes are spread over the table.
double write_us(World& world, const std::vector<std::string>& requests) {
  const auto begin = steady_clock::now();
  for (int i = 0; i < writes; ++i)
    world.execute("PutItem", requests[static_cast<std::size_t>(i * 37) % requests.size()]);
  return milliseconds_since(begin) * 1000 / writes;
}

void report_writes(bool streamed, std::size_t text_bytes) {
  std::vector<std::string> requests;
  for (int version = 1; version <= 3; ++version)
    for (int i = 0; i < items; ++i) requests.push_back(World::put_request(i, version, text_bytes));
  // The three configurations take turns, so that other load on the machine affects all of them.
  std::vector<double> off, on, with_point;
  for (int turn = 0; turn < turns; ++turn) {
    for (std::vector<double>* figures : {&off, &on, &with_point}) {
      World world(streamed);
      world.fill(items, text_bytes);
      if (figures == &on) world.emulator->database().history().keep(world.table, 35);
      if (figures == &with_point && !world.emulator->database().history().take_point(world.table))
        std::abort();
      figures->push_back(write_us(world, requests));
    }
  }
  Report report("PutItem of " + std::to_string(text_bytes) + " bytes" +
                    (streamed ? ", with stream and index" : "") + "; ceiling: recovery off",
                "us");
  report.row("recovery on, median", median(on), median(off), true);
  report.row("recovery on, best", *std::min_element(on.begin(), on.end()),
             *std::min_element(off.begin(), off.end()), true);
  report.row("after a point, median", median(with_point), median(off), true);
  report.print();
}

void report_points(int count) {
  World world(false);
  world.fill(count, 200);
  Database& database = world.emulator->database();
  const auto before_point = steady_clock::now();
  const auto point = database.history().take_point(world.table);
  const double point_ms = milliseconds_since(before_point);
  if (!point) std::abort();
  for (int i = 0; i < count; i += 10) world.execute("PutItem", World::put_request(i, 1, 200));

  Report report("a point of " + std::to_string(count) + " items, a tenth of which changed afterward", "");
  report.row("taking the point, ms", point_ms);
  const auto before_read = steady_clock::now();
  HistoryCursor read(database.reader(), *point);
  int there = 0;
  while (read.next()) ++there;
  report.row("reading it, ms", milliseconds_since(before_read));
  for (const bool indexed : {false, true}) {
    Table description = *world.table->description();
    description.name = indexed ? "restored with an index" : "restored";
    if (indexed) {
      Index index;
      index.name = "by_s";
      index.keys = {{{"s", ScalarType::string}}, {}};
      description.indexes = {index};
    }
    const auto into = database.tables().create(description);
    const auto before_fill = steady_clock::now();
    HistoryCursor then(database.reader(), *point);
    const auto filled = engine::fill(database.write_path(), then, into, {});
    if (!filled || filled->items != count || there != count) std::abort();
    report.row(indexed ? "restoring it, with an index, ms" : "restoring it, ms",
               milliseconds_since(before_fill));
  }
  const auto before_drop = steady_clock::now();
  if (!database.history().drop_point(point->id)) std::abort();
  report.row("dropping it, ms", milliseconds_since(before_drop));
  report.print();
}

}  // namespace
}  // namespace mayfly::bench

int main() {
  using namespace mayfly::bench;
  report_writes(false, 200);
  report_writes(false, 1000);
  report_writes(true, 1000);
  report_points(100'000);
}
