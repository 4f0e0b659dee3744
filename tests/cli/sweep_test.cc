// Tests what `mayfly sweep` does to a table. The endpoint is a Mayfly server in the test's process. The
// server's own TTL is disabled, and the tests move the server's clock.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "cli/sweep/plan.h"
#include "cli/sweep/request_text.h"
#include "cli/sweep/rounds.h"
#include "cli/sweep/scan.h"
#include "cli/sweep/sweep_command.h"
#include "cli/sweep/table_facts.h"
#include "engine/background/reaper.h"
#include "tests/support/running.h"

namespace mayfly::testing {

using namespace std::chrono_literals;
using namespace mayfly::sweep;

namespace {

constexpr std::int64_t new_year = 1'924'992'000;  // 2031-01-01T00:00:00Z, the start of a minute

std::shared_ptr<aws::Credentials> sweepers_key() {
  return std::make_shared<aws::Credentials>(*aws::Settings::read({}, [](const char* name) {
    return std::string(std::string_view(name).starts_with("AWS_ACCESS") ||
                               std::string_view(name).starts_with("AWS_SECRET")
                           ? "000000000000"
                           : "");
  }));
}

// The endpoint, with its clock frozen at `new_year` and a table that has a stream and is ready to be swept.
struct Swept {
  explicit Swept(Layout with = {}) : layout(std::move(with)) {
    layout.table = "carts";
    layout.ttl_attribute = "ttl";
    server.ok("PUT", "/_mayfly/clock", R"({"mode":"frozen","now":"2031-01-01T00:00:00Z"})");
    server.create_table("carts", true, false);
    const auto facts = read_facts(*client, layout);
    REQUIRE(facts);
    REQUIRE(create_index(*client, layout, *facts));
    State state(*client, layout, "mayfly_sweep");
    REQUIRE(state.create());
    REQUIRE(state.agree_on_settings());
  }

  void put(const std::string& id, std::int64_t ttl, int shard = 0, const std::string& more = "") {
    const std::int64_t window = window_of(std::max(ttl, new_year), layout.window_seconds);
    server.put("carts", id,
               ",\"ttl\":" + number_value(ttl) +
                   (layout.looks_by_ttl() ? "" : ",\"sweep_at\":" + number_value(ttl)) +
                   ",\"sweep_window\":" + string_value(place_text({window, shard})) + more);
  }
  void update(const std::string& id, const std::string& expression, const std::string& values) {
    const std::string names =
        expression.find("#t") == std::string::npos ? "" : R"(,"ExpressionAttributeNames":{"#t":"ttl"})";
    server.execute("UpdateItem",
                   R"({"TableName":"carts","Key":{"id":{"S":")" + id + R"("}},"UpdateExpression":")" +
                       expression + "\"" + names +
                       (values.empty() ? "" : ",\"ExpressionAttributeValues\":{" + values + "}") + "}");
  }
  void renew(const std::string& id, std::int64_t ttl) {
    update(id, "SET #t = :t", "\":t\":" + number_value(ttl));
  }
  void advance(double seconds) {
    server.ok("POST", "/_mayfly/clock/advance", "{\"seconds\":" + std::to_string(seconds) + "}");
  }
  void fault(const std::string& rules) { server.ok("PUT", "/_mayfly/faults", "{\"rules\":[" + rules + "]}"); }

  nlohmann::json item(const std::string& id) {
    const auto answer =
        server.execute("GetItem", R"({"TableName":"carts","Key":{"id":{"S":")" + id + R"("}}})");
    return answer.contains("Item") ? answer["Item"] : nlohmann::json();
  }
  // Returns [event, id] for each change, or [event, id, deletedBy] if the change's old image has a deletedBy.
  nlohmann::json changes(const std::set<std::string>& events) {
    const auto arn = server.execute("DescribeTable", R"({"TableName":"carts"})")["Table"]["LatestStreamArn"];
    const auto shards = server.execute("DescribeStream", nlohmann::json{{"StreamArn", arn}}.dump());
    const auto iterator = server.execute(
        "GetShardIterator", nlohmann::json{{"StreamArn", arn},
                                           {"ShardId", shards["StreamDescription"]["Shards"][0]["ShardId"]},
                                           {"ShardIteratorType", "TRIM_HORIZON"}}
                                .dump());
    nlohmann::json told = nlohmann::json::array();
    const auto page =
        server.execute("GetRecords", nlohmann::json{{"ShardIterator", iterator["ShardIterator"]}}.dump());
    for (const auto& record : page["Records"]) {
      if (!events.contains(record["eventName"])) continue;
      nlohmann::json row = {record["eventName"], record["dynamodb"]["Keys"]["id"]["S"]};
      if (record["dynamodb"].contains("OldImage") && record["dynamodb"]["OldImage"].contains("deletedBy"))
        row.push_back(record["dynamodb"]["OldImage"]["deletedBy"]["S"]);
      told.push_back(row);
    }
    return told;
  }
  std::vector<std::string> removed() {
    std::vector<std::string> ids;
    for (const auto& row : changes({"REMOVE"})) ids.push_back(row[1]);
    return ids;
  }

  Running server;
  Layout layout;
  std::unique_ptr<aws::Client> client =
      *aws::Client::open({.endpoint = "http://127.0.0.1:" + std::to_string(server.port()),
                          .region = "us-east-1",
                          .credentials = sweepers_key(),
                          .attempts_max = 1});
};

// A sweeper that works only when the test calls it.
struct Sweeper {
  explicit Sweeper(Swept& table, std::string name = "a", DepartureOptions departure = {},
                   std::size_t threads = 2, std::chrono::milliseconds lease = 1h)
      : table(table),
        state(*table.client, table.layout, "mayfly_sweep"),
        leases(state, {.me = std::move(name), .lease = lease, .shards = table.layout.shards}),
        departures(*table.client, table.layout, {"id"}, pace, std::move(departure)),
        workers(threads) {}

  // Takes the shards, with watermarks one hour before `new_year`.
  void renew() { REQUIRE(leases.renew(new_year - 3600)); }
  Rounds::Outcomes sweep() { return rounds.sweep(); }
  Rounds::Outcomes renew_and_sweep() {
    renew();
    return sweep();
  }

  Swept& table;
  std::atomic<bool> ended{false};
  State state;
  Leases leases;
  Pace pace{0, [](std::chrono::milliseconds) { return true; }};
  Departures departures;
  MayflyClock clock{*table.client};
  Tally tally;
  Journal journal{Journal::Level::off};
  cli::Workers workers;
  Rounds rounds{
      {*table.client, table.layout, departures, state, leases, clock, workers, tally, journal, ended}, {}};
};

}  // namespace

TEST_CASE("each second belongs to one window and windows are adjacent") {
  CHECK(window_of(119, 60) == 60);
  CHECK(window_of(120, 60) == 120);
  CHECK(window_of(0, 60) == 0);
  CHECK(window_of(-1, 60) == -60);
  CHECK(place_text({1'700'000'040, 7}) == "1700000040#7");
  CHECK(parse_place("1700000040#7") == Place{1'700'000'040, 7});
  for (const char* none : {"", "7", "#7", "7#", "a#1", "1#-1", "1#1#1", " 1#1"})
    CHECK_FALSE(parse_place(none));
  CHECK(due_of("1700000052") == 1'700'000'052'001);
  CHECK(due_of("1.5") == 1501);
  CHECK(second_of(*due_of("60")) == 60);
  for (const char* none : {"", "soon", "1700000052000", "1e100"}) CHECK_FALSE(due_of(none));
  const Layout layout;
  CHECK(place_of(*due_of("1000"), 500'000, 3, layout) == Place{960, 3});
  CHECK(place_of(*due_of("1000"), 5'000'000, 3, layout) == Place{4980, 3});
  CHECK(seconds_text(1'700'000'052'001) == "1700000052.001");
  CHECK(seconds_text(1'700'000'052'000) == "1700000052");
  CHECK(same_number("1.0", "1"));
  CHECK_FALSE(same_number("1", "2"));
}

TEST_CASE("an item is deleted one millisecond after its TTL even on a minute boundary") {
  Swept table;
  Sweeper sweeper(table);
  table.put("1", new_year + 60);
  table.put("2", new_year + 61, 15);
  table.advance(60);
  CHECK(sweeper.renew_and_sweep().settled == 0);
  CHECK(sweeper.sweep().whole);
  table.advance(0.001);
  CHECK(sweeper.sweep().settled == 1);
  CHECK(table.removed() == std::vector<std::string>{"1"});
  table.advance(1);
  CHECK(sweeper.sweep().settled == 1);
  CHECK(sweeper.sweep().settled == 0);
  CHECK(table.removed() == std::vector<std::string>{"1", "2"});
  CHECK(sweeper.tally.counts().of(Outcome::deleted) == 2);
}

TEST_CASE("a renewed item is re-armed once when its old TTL passes and deleted at its new TTL") {
  Swept table;
  Sweeper sweeper(table);
  table.put("1", new_year + 10);
  table.renew("1", new_year + 200);
  table.advance(11);
  CHECK(sweeper.renew_and_sweep().settled == 1);
  CHECK(sweeper.tally.counts().of(Outcome::rearmed) == 1);
  CHECK(table.item("1")["sweep_at"]["N"] == std::to_string(new_year + 200));
  CHECK(table.item("1")["sweep_window"]["S"] == std::to_string(new_year + 180) + "#0");
  CHECK(sweeper.sweep().settled == 0);
  table.advance(189);
  CHECK(sweeper.sweep().settled == 0);
  table.advance(1);
  CHECK(sweeper.sweep().settled == 1);
  CHECK(table.item("1").is_null());
}

TEST_CASE("the sweeper re-checks the item instead of trusting the index") {
  Swept table;
  Sweeper sweeper(table);
  const std::string window = place_text({new_year, 0});
  const auto settle = [&](const std::string& id, std::int64_t at) {
    return sweeper.departures.settle(
        {.key = R"({"id":{"S":")" + id + R"("}})", .window = window, .at = std::to_string(at)},
        (new_year + 30) * 1000, 1);
  };
  SECTION("the item no longer exists") { CHECK(settle("none", new_year + 5).outcome == Outcome::lost); }
  SECTION("the item is armed in another window") {
    table.put("1", new_year + 300);
    CHECK(settle("1", new_year + 5).outcome == Outcome::lost);
    CHECK_FALSE(table.item("1").is_null());
  }
  SECTION("the TTL was shortened and has also passed") {
    table.put("1", new_year + 20);
    table.renew("1", new_year + 3);
    const Settled settled = settle("1", new_year + 20);
    CHECK(settled.outcome == Outcome::deleted);
    CHECK(settled.due == (new_year + 3) * 1000 + 1);
  }
  SECTION("the second of the TTL is not over yet") {
    table.put("1", new_year + 30);
    CHECK(settle("1", new_year + 30).outcome == Outcome::rearmed);  // the sweeper checked the item too early
    CHECK_FALSE(table.item("1").is_null());
  }
  SECTION("the item never expires") {
    table.put("none", new_year + 5);
    table.update("none", "REMOVE #t", "");
    table.put("text", new_year + 5);
    table.update("text", "SET #t = :t", R"(":t":{"S":"soon"})");
    table.put("old", new_year + 5);
    table.renew("old", new_year - 5LL * 366 * 24 * 3600);
    for (const char* id : {"none", "text", "old"}) {
      CHECK(settle(id, new_year + 5).outcome == Outcome::released);
      CHECK_FALSE(table.item(id).contains("sweep_window"));
      CHECK_FALSE(table.item(id).contains("sweep_at"));
    }
  }
}

TEST_CASE("a sweep after an hour's pause deletes items in due order across all shards and pages") {
  Swept table;
  std::vector<std::pair<std::int64_t, std::string>> due;
  for (int n = 0; n < 240; ++n) {
    const std::int64_t second = (n * 7919) % 3600;
    const std::string id = "i" + std::to_string(n);
    table.put(id, new_year + second, n % 16);
    due.emplace_back(second, id);
  }
  table.advance(3601);
  Sweeper sweeper(table, "a", {}, 4);
  const auto outcomes = sweeper.renew_and_sweep();
  CHECK(outcomes.settled == 240);
  CHECK(outcomes.whole);
  std::map<std::string, std::int64_t> second_of_id;
  for (const auto& [second, id] : due) second_of_id[id] = second;
  std::vector<std::int64_t> seconds;
  for (const std::string& id : table.removed()) seconds.push_back(second_of_id.at(id));
  CHECK(seconds.size() == 240);
  CHECK(std::is_sorted(seconds.begin(), seconds.end()));
}

TEST_CASE("the watermark passes a window once the window is empty and its grace period is over") {
  Swept table;
  Sweeper sweeper(table);
  table.put("late", new_year + 30);
  table.advance(31);
  sweeper.renew_and_sweep();
  const auto watermark = [&] { return sweeper.state.read()->shards.at(0).watermark; };
  // Every window up to this instant ended more than five minutes ago, so its grace period is over.
  CHECK(watermark() == new_year - 300);
  table.advance(60 + 300 - 31 - 0.001);
  sweeper.sweep();
  CHECK(watermark() == new_year);
  // A client writes into the window just before the watermark passes it.
  table.put("straggler", new_year + 50);
  table.advance(0.001);
  sweeper.sweep();
  CHECK(watermark() == new_year + 60);
  CHECK(table.removed() == std::vector<std::string>{"late", "straggler"});
}

TEST_CASE("an item whose sort key is later than the end of its window is re-armed when the window ends") {
  Swept table;
  Sweeper sweeper(table);
  table.put("1", new_year + 10);
  table.update("1", "SET sweep_at = :a, #t = :a", "\":a\":" + number_value(new_year + 500));
  table.advance(69);
  CHECK(sweeper.renew_and_sweep().settled == 0);
  table.advance(1);
  CHECK(sweeper.sweep().settled == 1);
  CHECK(table.item("1")["sweep_window"]["S"] == std::to_string(new_year + 480) + "#0");
}

TEST_CASE("if the TTL is the sort key a renewed item is found when its old window ends") {
  Layout layout;
  layout.at_attribute = "ttl";
  Swept table(layout);
  Sweeper sweeper(table);
  table.put("goes", new_year + 10);
  table.put("renewed", new_year + 10);
  table.renew("renewed", new_year + 100);
  table.advance(11);
  CHECK(sweeper.renew_and_sweep().settled == 1);
  table.advance(59);
  CHECK(sweeper.sweep().settled == 1);
  CHECK(table.item("renewed")["sweep_window"]["S"] == std::to_string(new_year + 60) + "#0");
  table.advance(31);
  CHECK(sweeper.sweep().settled == 1);
  CHECK(table.removed() == std::vector<std::string>{"goes", "renewed"});
}

TEST_CASE("an expired item is deleted once and a renewed item survives no matter which request fails") {
  const bool marks = GENERATE(false, true);
  const std::string operation = GENERATE("Query", "DeleteItem", "UpdateItem", "GetItem");
  const std::string fault = GENERATE("throttle", "internal_server_error");
  CAPTURE(marks, operation, fault);
  Swept table;
  Sweeper sweeper(table, "a", {.mark_attribute = marks ? "deletedBy" : ""}, 0);
  sweeper.renew();
  for (int n = 0; n < 6; ++n) table.put("i" + std::to_string(n), new_year + n, n);
  table.put("renewed", new_year + 2, 2);
  table.renew("renewed", new_year + 4000);
  table.advance(10);
  // Makes about half of the requests for this operation fail.
  table.fault(R"({"fault":")" + fault + R"(","operation":")" + operation +
              R"(","probability":0.5,"seed":7})");
  for (int n = 0; n < 5; ++n) sweeper.sweep();
  table.fault("");
  for (int n = 0; n < 3; ++n) sweeper.sweep();
  CHECK(sweeper.sweep().whole);
  const std::vector<std::string> removed = table.removed();
  CHECK(std::set<std::string>(removed.begin(), removed.end()) ==
        std::set<std::string>{"i0", "i1", "i2", "i3", "i4", "i5"});
  CHECK(removed.size() == 6);
  CHECK_FALSE(table.item("renewed").contains("deletedBy"));
  CHECK(table.item("renewed")["sweep_at"]["N"] == std::to_string(new_year + 4000));
}

TEST_CASE("the watermark does not pass a window with an item that cannot be deleted") {
  Swept table;
  Sweeper sweeper(table);
  sweeper.renew();
  table.put("1", new_year + 5);
  table.fault(R"({"fault":"internal_server_error","operation":"DeleteItem"})");
  table.advance(3600);
  const auto outcomes = sweeper.sweep();
  CHECK(outcomes.failed > 0);
  CHECK_FALSE(outcomes.whole);
  CHECK(sweeper.state.read()->shards.at(0).watermark == new_year);
  CHECK(sweeper.state.read()->shards.at(1).watermark > new_year);
  table.fault("");
  CHECK(sweeper.sweep().settled == 1);
  CHECK(sweeper.state.read()->shards.at(0).watermark > new_year);
}

TEST_CASE("a deletion carries the sweeper's mark and a renewal of a marked item removes the mark") {
  Swept table;
  Sweeper sweeper(table, "a", {.mark_attribute = "deletedBy"});
  table.put("swept", new_year + 5);
  table.put("users", new_year + 50);
  table.put("killed", new_year + 5, 1,
            R"(,"deletedBy":{"S":"mayfly-sweep/41"})");  // a sweeper set this mark and was then killed
  table.put("renewed", new_year + 5, 2, R"(,"deletedBy":{"S":"mayfly-sweep/41"})");
  table.renew("renewed", new_year + 900);
  table.server.execute("DeleteItem", R"({"TableName":"carts","Key":{"id":{"S":"users"}}})");
  table.advance(6);
  sweeper.renew_and_sweep();
  nlohmann::json removed = table.changes({"REMOVE"});
  std::sort(removed.begin(), removed.end());
  CHECK(removed == nlohmann::json::parse(R"([["REMOVE","killed","mayfly-sweep/1"],)"
                                         R"(["REMOVE","swept","mayfly-sweep/1"],["REMOVE","users"]])"));
  CHECK_FALSE(table.item("renewed").contains("deletedBy"));

  // The item's writer has re-armed the item, so no index entry leads to the mark. A sweeper that still has
  // the old entry removes the mark.
  table.put("armed", new_year + 900, 3, R"(,"deletedBy":{"S":"mayfly-sweep/1"})");
  CHECK(sweeper.departures
            .settle({.key = R"({"id":{"S":"armed"}})",
                     .window = place_text({new_year, 3}),
                     .at = std::to_string(new_year)},
                    (new_year + 6) * 1000, 1)
            .outcome == Outcome::lost);
  CHECK_FALSE(table.item("armed").contains("deletedBy"));
}

TEST_CASE("a dry run writes nothing and reports what a sweep would do") {
  Swept table;
  Sweeper sweeper(table, "a", {.dry_run = true});
  table.put("goes", new_year + 5);
  table.put("renewed", new_year + 5);
  table.renew("renewed", new_year + 900);
  table.advance(6);
  sweeper.leases.assume({}, new_year - 3600);
  Rounds rounds({*table.client, table.layout, sweeper.departures, sweeper.state, sweeper.leases,
                 sweeper.clock, sweeper.workers, sweeper.tally, sweeper.journal, sweeper.ended},
                {.dry_run = true});
  CHECK(rounds.sweep().settled == 2);
  CHECK(sweeper.tally.counts().of(Outcome::deleted) == 1);
  CHECK(sweeper.tally.counts().of(Outcome::rearmed) == 1);
  CHECK(table.changes({"MODIFY", "REMOVE"}).size() == 1);  // only the test's own renewal
  CHECK(sweeper.state.read()->shards.empty());
}

TEST_CASE("sweepers share the shards evenly and take over a dead sweeper's shards") {
  const engine::RealTime now = engine::host_time();
  const LeaseOptions me{.me = "a", .lease = 3s, .shards = 5};
  StateRows rows;
  const auto changes = [&](const std::map<std::string, Beat>& beats) {
    return lease_changes(rows, beats, me, now);
  };
  CHECK(changes({}).take == std::vector<int>{0, 1, 2, 3, 4});

  for (int shard = 0; shard < 5; ++shard) rows.shards[shard] = {0, 1, shard < 4 ? "a" : "b"};
  rows.beats = {{"a", 9}, {"b", 4}};
  // A sweeper that is seen for the first time counts as alive until its counter has not changed for the
  // length of a lease.
  CHECK(changes({}).sweepers == 2);
  CHECK(changes({}).release == std::vector<int>{3});
  CHECK(changes({{"b", {4, now - 2s}}}).take.empty());
  CHECK(changes({{"b", {4, now - 3s}}}).take == std::vector<int>{4});
  CHECK(changes({{"b", {4, now - 3s}}}).dead == std::vector<std::string>{"b"});
  CHECK(changes({{"b", {4, now - 3s}}}).release.empty());
  // The row of sweeper "b" is gone from the state table, because "b" exited normally or because another
  // sweeper removed the row of a dead sweeper.
  rows.beats.erase("b");
  CHECK(changes({}).take == std::vector<int>{4});
}

TEST_CASE("a superseded sweeper neither advances the watermark nor deletes twice") {
  Swept table;
  Sweeper first(table, "first"), second(table, "second", {}, 2, 1ms);
  first.renew();
  CHECK(first.leases.held().size() == 16);
  // With a lease of 1 ms, the second sweeper takes over shards once it has seen that the first sweeper does
  // not renew its lease.
  while (second.state.read()->shards.at(15).owner != "second") second.renew();
  table.put("1", new_year + 5);
  table.advance(3600);
  CHECK(first.sweep().settled == 1);  // the first sweeper does not know yet that it was replaced
  Sweeper third(table, "third");
  while (third.leases.held().size() != 16) third.renew(), second.leases.end();
  // The first sweeper's watermark was rejected.
  CHECK(third.state.read()->shards.at(0).watermark == new_year - 3600);
  CHECK(third.sweep().settled == 0);
  CHECK(third.state.read()->shards.at(0).watermark == new_year + 3300);
  CHECK(table.removed() == std::vector<std::string>{"1"});
  const auto renewed = first.leases.renew(new_year);
  REQUIRE(renewed);
  CHECK(renewed->lost.size() == 16);
}

TEST_CASE("two sweepers with the same shards delete each item once") {
  Swept table;
  for (int n = 0; n < 200; ++n) table.put("i" + std::to_string(n), new_year + n % 20, n % 16);
  table.advance(30);
  Sweeper first(table, "first", {.mark_attribute = "deletedBy"}),
      second(table, "second", {.mark_attribute = "deletedBy"});
  first.leases.assume({}, new_year);
  second.leases.assume({}, new_year);
  std::thread other([&] { second.sweep(); });
  first.sweep();
  other.join();
  first.sweep();
  const std::vector<std::string> removed = table.removed();
  CHECK(removed.size() == 200);
  CHECK(std::set<std::string>(removed.begin(), removed.end()).size() == 200);
}

TEST_CASE("a sweeper whose settings differ from the stored settings does not start") {
  Swept table;
  Layout other = table.layout;
  other.window_seconds = 30;
  CHECK_THAT(State(*table.client, other, "mayfly_sweep").agree_on_settings().error(),
             Catch::Contains("already has other settings: --window-seconds 60 --shards 16"));
  other = table.layout;
  other.shards = 8;
  CHECK_FALSE(State(*table.client, other, "mayfly_sweep").agree_on_settings());
  other.shards = 32;
  CHECK(State(*table.client, other, "mayfly_sweep").agree_on_settings());
}

TEST_CASE("a scan classifies items and arms those with a missing or wrong window") {
  Swept table;
  table.put("placed", new_year + 100);
  table.put("renewed", new_year + 100);
  table.renew("renewed", new_year + 9000);
  table.server.put("carts", "missing", ",\"ttl\":" + number_value(new_year + 200));
  table.server.put("carts", "expired", ",\"ttl\":" + number_value(new_year - 200));
  table.put("shortened", new_year + 5000);
  table.renew("shortened", new_year + 10);
  table.put("never", new_year + 10);
  table.update("never", "SET #t = :t", R"(":t":{"S":"x"})");
  table.server.put("carts", "without");
  table.put("passed", new_year + 10);
  table.update("passed", "SET sweep_window = :w", "\":w\":" + string_value(place_text({new_year - 7200, 0})));

  Sweeper sweeper(table);
  const auto scan = [&](bool arms, ScanCounts& counts) {
    return scan_table(*table.client, table.layout, sweeper.departures, arms ? &sweeper.state : nullptr,
                      sweeper.workers,
                      {.segments = 3, .arms = arms, .watermark = new_year - 3600, .now = new_year * 1000},
                      sweeper.ended, counts, [] {});
  };
  ScanCounts before;
  REQUIRE(scan(false, before));
  CHECK(before.scanned == 8);
  CHECK(before.of(Standing::placed) == 2);
  CHECK(before.of(Standing::missing) == 2);
  CHECK(before.of(Standing::late) == 1);
  CHECK(before.of(Standing::passed) == 1);
  CHECK(before.of(Standing::never) == 1);
  CHECK(before.expired == 1);

  const auto facts = read_facts(*table.client, table.layout);
  REQUIRE(facts);
  CHECK(facts->problem.empty());
  const Costs costs = costs_of(*facts, before, table.layout, 3s, true);
  CHECK(costs.by_deletions == 2 * before.within_a_month);
  CHECK(costs.backfill_once == 4 * 2 + 2);
  CHECK(costs.by_sweeper == 2'592'000 + 16 * 43'200);
  CHECK_THAT(plan_text({.layout = table.layout, .facts = *facts, .counts = &before, .costs = costs}),
             Catch::Contains(
                 "  strays, late               1  their TTL was shortened without moving them in the index"));

  ScanCounts armed;
  REQUIRE(scan(true, armed));
  CHECK(armed.armed == 4);
  CHECK(progress_text(armed, 16) == "[##########----------]  50 %  8 scanned, 4 armed");
  ScanCounts after;
  REQUIRE(scan(false, after));
  CHECK(after.of(Standing::placed) == 6);
  CHECK(after.of(Standing::never) == 1);
}

TEST_CASE("an interrupted scan continues where it stopped") {
  Swept table;
  for (int n = 0; n < 5; ++n)
    table.server.put("carts", "i" + std::to_string(n), ",\"ttl\":" + number_value(new_year + 200));
  Sweeper sweeper(table);
  const auto arm = [&] {
    ScanCounts counts;
    const auto scanned =
        scan_table(*table.client, table.layout, sweeper.departures, &sweeper.state, sweeper.workers,
                   {.segments = 2, .arms = true, .now = new_year * 1000}, sweeper.ended, counts, [] {});
    return std::pair(scanned.has_value(), counts.armed.load());
  };
  // An earlier scan has finished the first of two segments and has not begun the second one.
  REQUIRE(sweeper.state.write_progress(0, 2, {.scanned = 2, .armed = 2, .done = true}));
  const auto [ended, armed] = arm();
  CHECK(ended);
  CHECK(armed >= 2);
  CHECK(armed < 7);
  CHECK_FALSE(*sweeper.state.read_progress(0, 2));  // no progress is stored, so the next scan starts over
  const auto [again, all] = arm();
  CHECK(again);
  CHECK(armed - 2 + all == 5);
}

TEST_CASE("an Alternator isolation mode is safe only if it protects conditions from all writers") {
  for (const char* safe : {"always", "always_use_lwt", "a"}) CHECK(is_safe_isolation(safe));
  for (const char* unsafe :
       {"forbid_rmw", "f", "only_rmw_uses_lwt", "o", "unsafe_rmw", "unsafe", "u", "", "not known"})
    CHECK_FALSE(is_safe_isolation(unsafe));
}

TEST_CASE("a table without a suitable index is rejected with the reason") {
  Swept table;
  Layout other = table.layout;
  other.index = "none";
  CHECK(read_facts(*table.client, other)->problem ==
        "it has no index none. Create it with 'mayfly sweep plan --apply'");
  other = table.layout;
  other.at_attribute = "when";
  CHECK(read_facts(*table.client, other)->problem ==
        "its index sweep has a different key than sweep_window and when");
  other = table.layout;
  other.ttl_attribute = "id";
  CHECK(read_facts(*table.client, other).error() ==
        "table carts: id is a key attribute, which cannot be changed");
  other.table = "none";
  CHECK_THAT(read_facts(*table.client, other).error(),
             Catch::StartsWith("table none: ResourceNotFoundException: Requested resource not found"));
}

TEST_CASE(
    "responses narrow the estimated clock difference and a sweeper with a fast clock uses an earlier time") {
  ClockSkew skew;
  CHECK_FALSE(skew.bounds());
  // The endpoint's clock is 5.4 s behind the sweeper's clock.
  skew.hear({.asked = 10'000, .heard = 10'020, .date = 4'000});
  CHECK(skew.bounds()->least == -6'020);
  CHECK(skew.bounds()->most == -4'750);
  skew.hear({.asked = 10'400, .heard = 10'420, .date = 5'000});
  CHECK(skew.bounds()->least == -5'420);
  CHECK(skew.bounds()->most == -4'750);
  // One of the two clocks was set, so the estimate starts over.
  skew.hear({.asked = 20'000, .heard = 20'010, .date = 19'000});
  CHECK(skew.bounds()->least == -1'010);
  CHECK(skew.bounds()->most == 250);

  GuardedHostClock clock(10'000);
  const engine::Instant now = engine::SystemClock().now();
  CHECK(*clock.now() >= now);
  clock.hear({.asked = now, .heard = now, .date = now - 6'000});
  CHECK(*clock.now() < now - 4'000);
  clock.hear({.asked = now, .heard = now, .date = now - 60'000});
  CHECK_THAT(clock.now().error(), Catch::Contains("differ by 58 s or more (limit --clock-skew-max)"));
}

TEST_CASE("writes stay within the allowed units and wait when they are throttled") {
  std::vector<std::chrono::milliseconds> waits;
  bool goes_on = true;
  Pace pace(2, [&](std::chrono::milliseconds pause) {
    waits.push_back(pause);
    return goes_on;
  });
  goes_on = false;
  while (pace.before_write()) pace.after_write(1);  // use up saved units, if any
  CHECK(waits.size() == 1);
  CHECK(waits.back() <= 501ms);
  Pace free(0, [&](std::chrono::milliseconds pause) {
    waits.push_back(pause);
    return false;
  });
  CHECK(free.before_write());
  for (int n = 0; n < 30; ++n) free.throttled();
  CHECK_FALSE(free.before_write());
  CHECK(waits.size() == 2);
}

TEST_CASE("concurrent callers of Workers run each part of their work exactly once") {
  cli::Workers workers(3);
  std::atomic<int> done{0};
  std::vector<std::thread> givers;
  for (int giver = 0; giver < 4; ++giver)
    givers.emplace_back([&] {
      std::vector<std::atomic<int>> parts(100);
      for (int round = 0; round < 20; ++round) workers.each(parts.size(), [&](std::size_t n) { ++parts[n]; });
      for (const auto& part : parts) done += part;
    });
  for (std::thread& giver : givers) giver.join();
  CHECK(done == 4 * 20 * 100);
  workers.each(0, [](std::size_t) { FAIL("there is nothing to do"); });
}

TEST_CASE("sweep counts are printed in Prometheus format") {
  Tally tally;
  tally.add({.outcome = Outcome::deleted, .due = 1'000}, 1'400);
  tally.add({.outcome = Outcome::deleted, .due = 1'000}, 9'000'000'000);
  tally.add({.outcome = Outcome::lost, .throttles = 2}, 2'000);
  const std::string text = metrics_text({{"carts", tally.counts()}});
  for (const char* line : {"mayfly_sweep_items_total{table=\"carts\",outcome=\"deleted\"} 2\n",
                           "mayfly_sweep_items_total{table=\"carts\",outcome=\"lost\"} 1\n",
                           "mayfly_sweep_lag_seconds_bucket{table=\"carts\",le=\"0.25\"} 0\n",
                           "mayfly_sweep_lag_seconds_bucket{table=\"carts\",le=\"0.5\"} 1\n",
                           "mayfly_sweep_lag_seconds_bucket{table=\"carts\",le=\"86400\"} 1\n",
                           "mayfly_sweep_lag_seconds_bucket{table=\"carts\",le=\"+Inf\"} 2\n",
                           "mayfly_sweep_throttles_total{table=\"carts\"} 2\n"})
    CHECK_THAT(text, Catch::Contains(line));
}

TEST_CASE("tables in a file inherit the command line's settings and can override them") {
  TableCommand defaults;
  defaults.layout.ttl_attribute = "ttl";
  const auto tables = parse_tables(
      R"([{"table":"carts"},{"table":"sessions","ttl_attribute":"expires","shards":64,"mark_attribute":"by"}])",
      defaults);
  REQUIRE(tables);
  REQUIRE(tables->size() == 2);
  CHECK((*tables)[0].layout.ttl_attribute == "ttl");
  CHECK((*tables)[1].layout.shards == 64);
  CHECK((*tables)[1].mark_attribute == "by");
  const auto wrong = [&](const char* text) { return parse_tables(text, defaults).error(); };
  CHECK_THAT(wrong("{}"), Catch::StartsWith("must be a JSON array"));
  CHECK(wrong(R"([{"table":"a","shard":1}])") == "has a table with an unknown or invalid member shard");
  CHECK(wrong(R"([{"table":"a","shards":0}])") == "has a table with an unknown or invalid member shards");
  CHECK(wrong(R"([{"table":"a"},{"table":"a"}])") == "has table a twice");
  CHECK(wrong(R"([{"table":"a","mark_attribute":"ttl"}])") ==
        "has an invalid table: TTL, window, sort key and mark must be different attributes");
  CHECK(wrong(R"([{"ttl_attribute":"a"}])") == "has a table without 'table' or 'ttl_attribute'");
}

}  // namespace mayfly::testing
