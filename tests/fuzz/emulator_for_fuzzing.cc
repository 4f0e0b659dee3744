#include "tests/fuzz/emulator_for_fuzzing.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "compat/json/json.h"
#include "compat/json/json_tree.h"
#include "compat/wire/attribute_value_json.h"
#include "engine/background/snapshots.h"
#include "engine/base/random.h"
#include "engine/items/transaction.h"
#include "engine/schema/index_entries.h"
#include "tests/fuzz/must.h"
#include "tests/fuzz/pieces.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {
namespace {

using json::Value;

// Limits the background work after an input, because that work can exceed the work for the input's requests.
constexpr int steps_max = 200;
// In a long run, storage is verified after one in this many inputs.
constexpr std::size_t inputs_for_a_verification = 32;
// Maximum number of worlds per database. The data of deleted worlds makes reads slower.
constexpr int worlds_max = 256;
// Maximum size of a value that is kept from a response for later requests.
constexpr std::size_t remembered_bytes_max = 4096;

constexpr std::string_view tables[] = {
    R"({"TableName":"short","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},{"AttributeName":"n","AttributeType":"N"}],
        "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
        "GlobalSecondaryIndexes":[{"IndexName":"by_n","KeySchema":[{"AttributeName":"n","KeyType":"HASH"}],
          "Projection":{"ProjectionType":"ALL"}}],
        "StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}})",
    R"({"TableName":"long","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},{"AttributeName":"at","AttributeType":"N"},
          {"AttributeName":"b","AttributeType":"B"},{"AttributeName":"s","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"id","KeyType":"HASH"},{"AttributeName":"at","KeyType":"RANGE"}],
        "LocalSecondaryIndexes":[{"IndexName":"by_b","KeySchema":[{"AttributeName":"id","KeyType":"HASH"},
          {"AttributeName":"b","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],
        "GlobalSecondaryIndexes":[{"IndexName":"by_s","KeySchema":[{"AttributeName":"s","KeyType":"HASH"},
          {"AttributeName":"at","KeyType":"RANGE"}],
          "Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["m"]}}]})"};

struct ItemText {
  std::size_t table;
  std::string_view json;
};
constexpr ItemText items[] = {
    {0, R"({"id":{"S":"a"},"n":{"N":"1"},"ttl":{"N":"1700000060"},
            "l":{"L":[{"N":"1"},{"M":{"b":{"L":[{"S":"x"}]}}}]},"ss":{"SS":["a","b"]}})"},
    {0, R"({"id":{"S":"b"},"n":{"N":"1"},"m":{"M":{"x":{"N":"2"}}}})"},
    {1, R"({"id":{"S":"a"},"at":{"N":"1"},"b":{"B":"YQ=="},"s":{"S":"x"},"m":{"NULL":true}})"},
    {1, R"({"id":{"S":"a"},"at":{"N":"2"},"s":{"S":"x"},"bool":{"BOOL":true}})"},
    {1, R"({"id":{"S":"b"},"at":{"N":"-1.5"},"c":{"B":""},"ns":{"NS":["1","2"]}})"}};

constexpr engine::Instant start = 1'700'000'000'000;

}  // namespace

FuzzedEmulator& FuzzedEmulator::get() {
  static auto* const emulator = new FuzzedEmulator;  // never deleted
  return *emulator;
}

// Creates the tables with requests once and keeps their descriptions. Worlds are made from the descriptions.
FuzzedEmulator::FuzzedEmulator() {
  open();
  const auto make = [this](std::string_view operation, std::string_view body) {
    const auto answer = execute(operation, body);
    must(answer.status == 200, "tables are created", answer.body);
  };
  for (const auto table : tables) make("CreateTable", table);
  make("UpdateTimeToLive",
       R"({"TableName":"short","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}})");
  for (const char* name : {"short", "long"}) {
    engine::Table table = *emulator_->database().catalog().find(scope_, name)->description();
    table.next_index_id = engine::Table().next_index_id;
    for (engine::Index& index : table.indexes) index.id = 0;
    first_tables_.push_back(std::move(table));
  }
  for (const ItemText& text : items) {
    const auto document = json::parse(text.json);
    auto item = compat::read_item(document->root());
    must(bool(item), "an initial item is valid", text.json);
    first_items_.push_back({text.table, *std::move(item)});
  }
  open();
  make_world();
}

void FuzzedEmulator::open() {
  emulator_.reset();
  const auto clock = std::make_shared<SteppedClock>(start);
  scheduler_ = std::make_shared<SteppedScheduler>(clock, 1);
  compat::EmulatorOptions options;
  options.database.clock = clock;
  options.database.random = std::make_shared<engine::SeededRandom>(1);
  options.database.make_scheduler = [this](std::size_t) { return scheduler_; };
  options.database.write_fails = [this] {
    changed_ = true;
    return false;
  };
  options.collection_bytes_max = 16 * 1024;
  auto opened = compat::Emulator::open(std::move(options));
  must(bool(opened), "the emulator can be opened");
  emulator_ = *std::move(opened);
  worlds_ = 0;
}

void FuzzedEmulator::make_world() {
  engine::Database& database = emulator_->database();
  std::vector<std::shared_ptr<engine::LiveTable>> made;
  for (const engine::Table& table : first_tables_) {
    made.push_back(database.tables().create(table));
    must(made.back() != nullptr, "tables are created", table.name);
  }
  engine::Transaction transaction(database.write_path(), engine::Cause::user);
  std::vector<engine::Transaction::Slot> slots;
  for (const FirstItem& first : first_items_)
    slots.push_back(
        transaction.add(made[first.table], engine::table_key(first_tables_[first.table].keys, first.item)));
  must(transaction.lock(), "items are created");
  for (std::size_t i = 0; i < slots.size(); ++i) transaction.put(slots[i], first_items_[i].item);
  transaction.commit();
  snapshot_.reset();
  changed_ = false;
  ++worlds_;
}

void FuzzedEmulator::begin(std::string_view input) {
  LongRun& run = LongRun::get();
  run.add(input);
  verifies_ = !run.is_long() || choice(input, inputs_for_a_verification) == 0;
  if (!verifies_ || snapshot_) return;
  snapshot_ = emulator_->database().snapshots().take(scope_.account);
  changed_ = false;
}

compat::Answer FuzzedEmulator::execute(std::string_view operation, std::string_view body) {
  auto answer = emulator_->execute(scope_, compat::operation_named(operation), substituted(body));
  must(answer.status == 200 || answer.status == 400, "a response has status 200 or 400", answer.body);
  if (!answer.body.empty()) {
    must(json::parse(answer.body) != nullptr, "a response is JSON", answer.body);
    must(!verifies_ || json::parse_tree(answer.body).has_value(), "a response is JSON for the tree's reader",
         answer.body);
  }
  if (answer.status == 200) remember(answer.body);
  return answer;
}

void FuzzedEmulator::remember(std::string_view answer) {
  const auto document = json::parse(answer);
  if (document == nullptr) return;
  const auto walk = [this](const auto& self, const Value& value) -> void {
    for (const Value& item : value.items()) self(self, item);
    for (const json::Member& member : value.members()) {
      self(self, member.value);
      if (member.value.is(Value::Kind::array) || member.name.size() < 2) continue;
      std::string text;
      json::Writer(text).value(member.value);
      if (text.size() <= remembered_bytes_max)
        remembered_.insert_or_assign(std::string(member.name), std::move(text));
    }
  };
  walk(walk, document->root());
}

std::string FuzzedEmulator::substituted(std::string_view body) const {
  std::string out;
  constexpr std::string_view mark = "\"$";
  for (auto at = body.find(mark); at != std::string_view::npos; at = body.find(mark)) {
    const auto end = body.find('"', at + mark.size());
    if (end == std::string_view::npos) break;
    const auto found = remembered_.find(body.substr(at + mark.size(), end - at - mark.size()));
    out.append(body.substr(0, at));
    out.append(found == remembered_.end() ? body.substr(at, end + 1 - at) : found->second);
    body.remove_prefix(end + 1);
  }
  return out.append(body);
}

compat::mcp::Asked FuzzedEmulator::call(std::string_view method, const std::string& path,
                                        const std::string& body, const std::stop_token& stop) {
  if (method != "GET") was_controlled_ = true;
  return compat::mcp::EmulatorWorld(*emulator_).call(scope_, method, path, body, stop);
}

void FuzzedEmulator::advance(std::chrono::milliseconds by) {
  changed_ = true;
  (void)emulator_->database().time_travel().advance_by(scope_.account, by);
}

void FuzzedEmulator::verify() {
  const std::string wrong = inconsistency(emulator_->database());
  must(wrong.empty(), "storage is consistent", wrong);
}

void FuzzedEmulator::finish() {
  remembered_.clear();
  if (!changed_ && !was_controlled_) return;
  engine::Database& database = emulator_->database();
  for (int step = 0; !was_controlled_ && step < steps_max && scheduler_->step_one(); ++step) {}
  if (verifies_ && !was_controlled_) {
    verify();
    must(database.snapshots().restore(scope_.account, *snapshot_), "the initial state can be restored");
    verify();
  }
  if (was_controlled_) {
    if (verifies_) verify();
  } else {
    database.snapshots().reset(scope_.account);
    emulator_->table_changes().settle_all(scope_.account);
    if (worlds_ >= worlds_max) verify();  // checks that deleted worlds have left nothing behind
  }
  if (was_controlled_ || worlds_ >= worlds_max) {
    open();
    LongRun::get().begin_anew();
  }
  was_controlled_ = false;
  make_world();
}

}  // namespace mayfly::testing
