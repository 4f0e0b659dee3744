#include "tests/support/stream_run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "engine/schema/shards.h"
#include "os/process.h"
#include "os/terminal.h"
#include "tests/support/own_program.h"

namespace mayfly::testing {

namespace {

using nlohmann::json;
using Seconds = std::chrono::duration<double>;

const engine::Scope scope{"000000000000", "us-east-1"};

std::string must(compat::Emulator& emulator, const std::string& target, const std::string& body) {
  compat::Answer answer = emulator.execute(scope, target, body);
  if (answer.status != 200) throw std::runtime_error(target + " " + body + " -> " + answer.body);
  return std::move(answer.body);
}

std::unique_ptr<compat::Emulator> open(const StreamRun& run) {
  compat::EmulatorOptions options;
  options.database.directory = run.directory;
  options.database.stream_shards = run.first_shards;
  auto emulator = compat::Emulator::open(std::move(options));
  if (!emulator) throw std::runtime_error(emulator.error());
  return std::move(*emulator);
}

std::string create_table(compat::Emulator& emulator) {
  const std::string body = must(emulator, "DynamoDB_20120810.CreateTable",
                                R"({"TableName":"carts","BillingMode":"PAY_PER_REQUEST",
      "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
      "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
      "StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}})");
  return json::parse(body)["TableDescription"]["LatestStreamArn"];
}

// The request of a writer's n-th write, which sets item n % items to n.
std::string put_body(const StreamRun& run, int writer, int n) {
  return R"({"TableName":"carts","Item":{"id":{"S":")" + std::to_string(writer) + "-" +
         std::to_string(n % run.items) + R"("},"n":{"N":")" + std::to_string(n) + R"("}}})";
}

std::vector<std::jthread> start_writers(const StreamRun& run, compat::Emulator& emulator,
                                        const std::vector<int>& begin,
                                        const std::function<void(int writer)>& acknowledged,
                                        const std::function<void()>& ended) {
  std::vector<std::jthread> threads;
  for (int writer = 0; writer < run.writers; ++writer) {
    threads.emplace_back(
        [&run, &emulator, &acknowledged, &ended, writer, first = begin[static_cast<std::size_t>(writer)]] {
          for (int n = first; n < run.writes; ++n) {
            must(emulator, "DynamoDB_20120810.PutItem", put_body(run, writer, n));
            acknowledged(writer);
          }
          ended();
        });
  }
  return threads;
}

// Sends the remaining writes while splitting and rolling over shards, and consumes on this thread until all
// records have been seen.
void write_and_consume(const StreamRun& run, compat::Emulator& emulator, StreamConsumer& consumer,
                       const std::vector<int>& begin, const std::function<void(int writer)>& acknowledged) {
  std::atomic<int> writing{run.writers};
  std::atomic<std::int64_t> written{0};
  const std::function<void(int)> count = [&](int writer) {
    acknowledged(writer);
    ++written;
  };
  const std::function<void()> ended = [&] { --writing; };
  std::vector<std::jthread> threads = start_writers(run, emulator, begin, count, ended);
  threads.emplace_back([&] {
    const auto table = emulator.database().catalog().find(scope, "carts");
    const std::int64_t every = std::int64_t{run.writers} * run.writes / (run.reshards + 1);
    for (int done = 0; writing > 0;) {
      if (written < every * (done + 1)) {
        std::this_thread::yield();
        continue;
      }
      // Closes the oldest open shard: splits it if fewer than eight shards are open, otherwise rolls it over.
      const std::vector<engine::Shard> shards = table->description()->stream->shards;
      const auto is_open = [](const engine::Shard& shard) { return !shard.closed; };
      const bool split = std::count_if(shards.begin(), shards.end(), is_open) < 8;
      const auto shard = std::find_if(shards.begin(), shards.end(), is_open);
      if (!emulator.database().tables().reshard(table, shard->number,
                                                split ? engine::Resharding::split : engine::Resharding::roll))
        throw std::runtime_error("cannot close a shard");
      ++done;
    }
  });
  for (bool last_look = false;;) {
    if (consumer.turn()) continue;
    if (last_look) return;
    last_look = writing == 0;
  }
}

// Checks what the consumer reports.
class Judge {
 public:
  Judge(const StreamRun& run, StreamOutcome& outcome) : run_(run), outcome_(outcome) {}

  void page(const std::string& shard, const std::string& next,
            const std::vector<StreamConsumer::Record>& records) {
    places[shard] = next;
    for (const auto& [id, before, n] : records) {
      ++outcome_.seen;
      // A record that is seen twice, skipped or out of order breaks its item's chain.
      const auto last = last_.try_emplace(id, -1).first;
      if (last->second != before)
        wrong("item " + id + ": " + std::to_string(before) + " -> " + std::to_string(n) + " came after " +
              std::to_string(last->second));
      last->second = n;
    }
  }
  void end() {
    if (outcome_.seen != std::int64_t{run_.writers} * run_.writes)
      wrong(std::to_string(outcome_.seen) + " records were seen");
    for (int writer = 0; writer < run_.writers; ++writer) {
      for (int n = std::max(0, run_.writes - run_.items); n < run_.writes; ++n) {
        const std::string id = std::to_string(writer) + "-" + std::to_string(n % run_.items);
        if (last_[id] != n) wrong("item " + id + " ended as " + std::to_string(last_[id]));
      }
    }
    outcome_.shards = places.size();
  }

  StreamConsumer::Places places;

 private:
  void wrong(std::string what) {
    if (outcome_.wrong.empty()) outcome_.wrong = std::move(what);
  }
  const StreamRun& run_;
  StreamOutcome& outcome_;
  std::map<std::string, std::int64_t> last_;
};

constexpr const char* run_variable = "MAYFLY_STREAM_RUN";

// The variable that tells the first half's process about the run.
std::string described(const StreamRun& run) {
  std::ostringstream words;
  words << run_variable << '=' << run.writers << ' ' << run.writes << ' ' << run.items << ' '
        << run.first_shards << ' ' << run.reshards << ' ' << run.page_records << ' ' << run.directory;
  return words.str();
}

StreamRun described_by_parent() {
  const char* words = std::getenv(run_variable);
  if (words == nullptr) throw std::runtime_error("play_first_half() was not started by run_stream()");
  StreamRun run;
  std::istringstream(words) >> run.writers >> run.writes >> run.items >> run.first_shards >> run.reshards >>
      run.page_records >> run.directory;
  return run;
}

}  // namespace

// Prints to standard error, because Catch prints to standard output: "t arn" for the stream, "a writer" for
// each acknowledged write, and "p shard next|- (id before n)*" for each page. The process can be killed
// between any two bytes.
void play_first_half() {
  const StreamRun run = described_by_parent();
  std::mutex mutex;
  const auto print = [&](const std::string& line) {
    const std::lock_guard lock(mutex);
    os::write_error(line);
  };
  try {
    const auto emulator = open(run);
    const std::string arn = create_table(*emulator);
    print("t " + arn + "\n");
    StreamConsumer consumer(*emulator, arn, run.page_records,
                            [&](const std::string& shard, const std::string& next, const auto& records) {
                              std::string line = "p " + shard + " " + (next.empty() ? "-" : next);
                              for (const auto& [id, before, n] : records)
                                line += " " + id + " " + std::to_string(before) + " " + std::to_string(n);
                              print(line + "\n");
                            });
    write_and_consume(run, *emulator, consumer, std::vector<int>(static_cast<std::size_t>(run.writers), 0),
                      [&](int writer) { print("a " + std::to_string(writer) + "\n"); });
  } catch (const std::exception& problem) {
    print(std::string("x ") + problem.what() + "\n");
  }
  os::exit_now(1);  // not reached if the process was killed
}

// --- the consumer

StreamConsumer::StreamConsumer(compat::Emulator& emulator, std::string arn, std::size_t page_records,
                               OnPage on_page, Places places)
    : emulator_(emulator),
      arn_(std::move(arn)),
      page_records_(page_records),
      on_page_(std::move(on_page)),
      places_(std::move(places)) {
  find_shards({});
}

std::string StreamConsumer::call(const std::string& operation, const std::string& body) {
  return must(emulator_, "DynamoDBStreams_20120810." + operation, body);
}

void StreamConsumer::find_shards(const std::string& parent) {
  std::vector<json> shards;
  std::string start;
  do {
    std::string body = R"({"StreamArn":")" + arn_ + R"(","Limit":3)";
    if (!parent.empty()) body += R"(,"ShardFilter":{"Type":"CHILD_SHARDS","ShardId":")" + parent + "\"}";
    if (!start.empty()) body += R"(,"ExclusiveStartShardId":")" + start + "\"";
    json description = json::parse(call("DescribeStream", body + "}"))["StreamDescription"];
    for (json& shard : description["Shards"]) shards.push_back(std::move(shard));
    start = description.value("LastEvaluatedShardId", "");
  } while (!start.empty());

  for (const json& shard : shards) {
    const std::string id = shard["ShardId"];
    if (places_.contains(id)) continue;
    // Skips a child whose parent has not ended. The child is found again when the parent ends.
    if (shard.contains("ParentShardId")) {
      const std::string its_parent = shard["ParentShardId"];
      const auto place = places_.find(its_parent);
      const bool ended = place != places_.end() && place->second.empty();
      const bool listed = std::any_of(shards.begin(), shards.end(),
                                      [&](const json& other) { return other["ShardId"] == its_parent; });
      if (!ended && (listed || place != places_.end())) continue;
    }
    const json answer =
        json::parse(call("GetShardIterator", R"({"StreamArn":")" + arn_ + R"(","ShardId":")" + id +
                                                 R"(","ShardIteratorType":"TRIM_HORIZON"})"));
    places_[id] = answer["ShardIterator"];
  }
}

bool StreamConsumer::turn() {
  bool moved = false;
  const Places places = places_;
  for (const auto& [shard, iterator] : places) {
    if (iterator.empty()) continue;
    const json answer = json::parse(call("GetRecords", R"({"ShardIterator":")" + iterator + R"(","Limit":)" +
                                                           std::to_string(page_records_) + "}"));
    std::vector<Record> records;
    for (const json& record : answer["Records"]) {
      const json& change = record["dynamodb"];
      const auto number = [](const json& image) { return std::stoll(image["n"]["N"].get<std::string>()); };
      records.push_back({change["Keys"]["id"]["S"],
                         change.contains("OldImage") ? number(change["OldImage"]) : -1,
                         number(change["NewImage"])});
    }
    const std::string next = answer.value("NextShardIterator", "");
    places_[shard] = next;
    if (!records.empty() || next.empty()) {
      on_page_(shard, next, records);
      moved = true;
    }
    if (next.empty()) find_shards(shard);
  }
  return moved;
}

// --- the run

StreamOutcome run_stream(const StreamRun& run) {
  StreamOutcome outcome;
  Judge judge(run, outcome);
  std::vector<int> acknowledged(static_cast<std::size_t>(run.writers), 0);
  std::string arn;

  auto start = std::chrono::steady_clock::now();
  os::Child child = own_program(run.first_half, {described(run)});
  bool killed = false;
  each_line_of(child, [&](const std::string& line) {
    std::istringstream words(line);
    char kind = 0;
    words >> kind;
    if (kind == 'a') {
      int writer = 0;
      words >> writer;
      ++acknowledged[static_cast<std::size_t>(writer)];
      ++outcome.acknowledged_before_kill;
    }
    if (kind == 't') words >> arn;
    if (kind == 'x') outcome.wrong = words.str();
    if (kind == 'p') {
      std::string shard, next;
      std::vector<StreamConsumer::Record> records;
      words >> shard >> next;
      for (StreamConsumer::Record record; words >> record.id >> record.before >> record.n;)
        records.push_back(record);
      judge.page(shard, next == "-" ? "" : next, records);
    }
    // Kills the child once enough writes are acknowledged and the consumer has seen a record, so that both
    // are active.
    if (!killed && outcome.acknowledged_before_kill >= run.kill_after && outcome.seen > 0) {
      child.kill();
      killed = true;
    }
  });
  outcome.seen_before_kill = outcome.seen;
  outcome.seconds_before_kill = Seconds(std::chrono::steady_clock::now() - start).count();
  if (child.wait() != killed_status) {
    if (outcome.wrong.empty()) outcome.wrong = "the writers finished before they were killed";
    return outcome;
  }

  start = std::chrono::steady_clock::now();
  const auto emulator = open(run);
  outcome.seconds_to_open = Seconds(std::chrono::steady_clock::now() - start).count();
  start = std::chrono::steady_clock::now();
  StreamConsumer consumer(
      *emulator, arn, run.page_records,
      [&](const std::string& shard, const std::string& next, const auto& records) {
        judge.page(shard, next, records);
      },
      judge.places);
  // Repeats writes that were not acknowledged. A write that was already stored changes nothing and makes no
  // record.
  write_and_consume(run, *emulator, consumer, acknowledged, [](int) {});
  outcome.seconds_after_kill = Seconds(std::chrono::steady_clock::now() - start).count();
  judge.end();
  return outcome;
}

double write_alone(const StreamRun& run) {
  const auto emulator = open(run);
  create_table(*emulator);
  const auto start = std::chrono::steady_clock::now();
  const std::function<void(int)> acknowledged = [](int) {};
  const std::function<void()> ended = [] {};
  start_writers(run, *emulator, std::vector<int>(static_cast<std::size_t>(run.writers), 0), acknowledged,
                ended)
      .clear();
  return Seconds(std::chrono::steady_clock::now() - start).count();
}

}  // namespace mayfly::testing
