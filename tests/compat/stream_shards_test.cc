// Tests how the shards of a stream are listed, followed across splits and roll-overs, and forgotten.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "compat/control/control.h"
#include "engine/schema/shards.h"
#include "tests/support/engine_world.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {

namespace {

using namespace std::chrono_literals;
using nlohmann::json;

class Streamed : public TestEmulator {
 public:
  explicit Streamed(std::uint32_t shards = 1, const std::string& directory = {})
      : TestEmulator(compat::EmulatorOptions{
            .database = {.directory = directory, .stream_shards = shards, .reap = false}}) {}

  void create() {
    arn = ok("CreateTable", json::parse(R"({"TableName":"carts","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
        "StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}})"))["TableDescription"]
                                                                                      ["LatestStreamArn"];
  }
  void put(const std::string& id) {
    ok("PutItem", {{"TableName", "carts"}, {"Item", {{"id", {{"S", id}}}}}});
  }
  void reshard(engine::ShardNumber shard, engine::Resharding how) {
    REQUIRE(emulator().database().tables().reshard(emulator().database().catalog().find(scope, "carts"),
                                                   shard, how));
  }
  json describe(json request = json::object()) {
    request["StreamArn"] = arn;
    return ok("DescribeStream", request)["StreamDescription"];
  }
  static std::vector<std::string> ids(const json& description) {
    std::vector<std::string> ids;
    for (const json& shard : description["Shards"]) ids.push_back(shard["ShardId"]);
    return ids;
  }
  std::vector<std::string> shards() { return ids(describe()); }

  std::string iterator(const std::string& shard, const std::string& type, const std::string& number = {}) {
    return ok("GetShardIterator", request(shard, type, number))["ShardIterator"];
  }
  std::string refused_iterator(const std::string& shard, const std::string& type,
                               const std::string& number = {}) {
    return refused("GetShardIterator", request(shard, type, number));
  }
  // The ids of the page's records, such as "abc.", where the dot means that the shard ends there.
  std::string page(const std::string& iterator) {
    const json answer = ok("GetRecords", {{"ShardIterator", iterator}});
    std::string seen;
    for (const json& record : answer["Records"])
      seen += record["dynamodb"]["Keys"]["id"]["S"].get<std::string>();
    return seen + (answer.contains("NextShardIterator") ? "" : ".");
  }

  std::string arn;

 private:
  json request(const std::string& shard, const std::string& type, const std::string& number) const {
    json request = {{"StreamArn", arn}, {"ShardId", shard}, {"ShardIteratorType", type}};
    if (!number.empty()) request["SequenceNumber"] = number;
    return request;
  }
};

constexpr auto roll = engine::Resharding::roll;
constexpr auto split_in_two = engine::Resharding::split;

TEST_CASE("DescribeStream lists shards by id in pages that neither repeat nor skip a shard", "[streams]") {
  Streamed world(250);
  world.create();
  const std::vector<std::string> first = world.shards();
  CHECK(first.size() == 100);
  CHECK(world.describe()["LastEvaluatedShardId"] == first.back());
  for (const int limit : {7, 100}) {
    std::vector<std::string> all;
    json request{{"Limit", limit}};
    for (bool more = true; more;) {
      const json description = world.describe(request);
      const auto ids = Streamed::ids(description);
      CHECK(ids.size() <= static_cast<std::size_t>(limit));
      all.insert(all.end(), ids.begin(), ids.end());
      more = description.contains("LastEvaluatedShardId");
      if (more) request["ExclusiveStartShardId"] = description["LastEvaluatedShardId"];
    }
    CHECK(all.size() == 250);
    CHECK(std::is_sorted(all.begin(), all.end()));
    CHECK(std::set<std::string>(all.begin(), all.end()).size() == 250);
  }
  // A full last page has no LastEvaluatedShardId.
  const json last =
      world.describe({{"ExclusiveStartShardId",
                       Streamed::ids(world.describe({{"ExclusiveStartShardId", first[49]}})).back()}});
  CHECK(last["Shards"].size() == 100);
  CHECK_FALSE(last.contains("LastEvaluatedShardId"));
}

TEST_CASE("a split closes a shard and opens two children that begin after the closed shard", "[streams]") {
  Streamed world;
  world.create();
  world.put("a");
  const std::string latest = world.iterator(world.shards()[0], "LATEST");
  world.put("b");
  world.reshard(0, split_in_two);
  for (const char* id : {"c", "d", "e", "f", "g", "h"}) world.put(id);

  const json shards = world.describe()["Shards"];
  REQUIRE(shards.size() == 3);
  const std::string parent = shards[0]["ShardId"];
  const std::string ending = shards[0]["SequenceNumberRange"]["EndingSequenceNumber"];
  CHECK(shards ==
        json::array({{{"ShardId", parent},
                      {"SequenceNumberRange",
                       {{"StartingSequenceNumber", "100000000000000000199"},
                        {"EndingSequenceNumber", "100000000000000000300"}}}},
                     {{"ShardId", shards[1]["ShardId"]},
                      {"SequenceNumberRange", {{"StartingSequenceNumber", "100000000000000000399"}}},
                      {"ParentShardId", parent}},
                     {{"ShardId", shards[2]["ShardId"]},
                      {"SequenceNumberRange", {{"StartingSequenceNumber", "100000000000000000399"}}},
                      {"ParentShardId", parent}}}));
  CHECK(parent == "shardId-00000001700000000000-00000001");
  CHECK(shards[1]["ShardId"].get<std::string>().starts_with("shardId-00000001700000000001-"));

  CHECK(world.page(world.iterator(parent, "TRIM_HORIZON")) == "ab.");
  CHECK(world.page(latest) == "b.");  // this iterator predates the split
  const std::string left = world.page(world.iterator(shards[1]["ShardId"], "TRIM_HORIZON"));
  const std::string right = world.page(world.iterator(shards[2]["ShardId"], "TRIM_HORIZON"));
  CHECK(left.size() + right.size() == 6);
  CHECK((left.size() > 0 && right.size() > 0));
  std::string both = left + right;
  std::sort(both.begin(), both.end());
  CHECK(both == "cdefgh");
}

TEST_CASE("a rolled-over shard has one child and ShardFilter lists the children of a shard", "[streams]") {
  Streamed world;
  world.create();
  world.put("a");
  world.reshard(0, roll);
  world.put("b");
  world.reshard(1, split_in_two);
  world.put("c");
  const std::vector<std::string> shards = world.shards();
  REQUIRE(shards.size() == 4);
  const auto children = [&](const std::string& of, json request = json::object()) {
    request["ShardFilter"] = {{"Type", "CHILD_SHARDS"}, {"ShardId", of}};
    return world.describe(request);
  };
  CHECK(Streamed::ids(children(shards[0])) == std::vector{shards[1]});
  CHECK(Streamed::ids(children(shards[1])) == std::vector{shards[2], shards[3]});
  CHECK(Streamed::ids(children(shards[3])).empty());
  CHECK(Streamed::ids(children("shardId-00000001700000000000-0000beef")).empty());
  const json page = children(shards[1], {{"Limit", 1}});
  CHECK(Streamed::ids(page) == std::vector{shards[2]});
  CHECK(page["LastEvaluatedShardId"] == shards[2]);
  CHECK(Streamed::ids(children(shards[1], {{"Limit", 1}, {"ExclusiveStartShardId", shards[2]}})) ==
        std::vector{shards[3]});

  std::string seen;
  for (const std::string& shard : shards) seen += world.page(world.iterator(shard, "TRIM_HORIZON"));
  CHECK(seen == "a.b.c");
}

TEST_CASE("an iterator at or after a sequence number accepts all numbers in its shard's range and no others",
          "[streams]") {
  Streamed world;
  world.create();
  world.put("a");
  world.put("b");
  world.reshard(0, roll);
  world.put("c");
  const json shards = world.describe()["Shards"];
  const std::string parent = shards[0]["ShardId"], child = shards[1]["ShardId"];
  const std::string starting = shards[0]["SequenceNumberRange"]["StartingSequenceNumber"];
  const std::string ending = shards[0]["SequenceNumberRange"]["EndingSequenceNumber"];
  const std::string child_starting = shards[1]["SequenceNumberRange"]["StartingSequenceNumber"];

  CHECK(world.page(world.iterator(parent, "AT_SEQUENCE_NUMBER", starting)) == "ab.");
  CHECK(world.page(world.iterator(parent, "AFTER_SEQUENCE_NUMBER", starting)) == "ab.");
  CHECK(world.page(world.iterator(parent, "AT_SEQUENCE_NUMBER", ending)) == "b.");
  CHECK(world.page(world.iterator(parent, "AFTER_SEQUENCE_NUMBER", ending)) == ".");
  CHECK(world.page(world.iterator(parent, "LATEST")) == ".");
  CHECK(world.page(world.iterator(child, "AT_SEQUENCE_NUMBER", child_starting)) == "c");
  CHECK(world.page(world.iterator(child, "AFTER_SEQUENCE_NUMBER", child_starting)) == "c");
  CHECK(world.page(world.iterator(child, "LATEST")).empty());
  CHECK(world.refused_iterator(child, "AT_SEQUENCE_NUMBER", starting) == "Invalid SequenceNumber");
  CHECK(world.refused_iterator(child, "AT_SEQUENCE_NUMBER", ending) == "Invalid SequenceNumber");
}

TEST_CASE("a closed shard ends with its own last record regardless of other shards", "[streams]") {
  Streamed world(2);
  world.create();
  for (const char* id : {"a", "b", "c", "d", "e", "f", "g", "h"}) world.put(id);
  const std::vector<std::string> before = world.shards();
  const std::string latest = world.iterator(before[0], "LATEST");
  world.reshard(0, roll);
  world.reshard(1, roll);
  std::set<std::string> endings;
  for (const std::string& shard : before) {
    const json answer = world.ok("GetRecords", {{"ShardIterator", world.iterator(shard, "TRIM_HORIZON")}});
    REQUIRE(answer["Records"].size() > 0);
    const json listed = world.describe()["Shards"];
    const auto found = std::find_if(listed.begin(), listed.end(),
                                    [&](const json& each) { return each["ShardId"] == shard; });
    CHECK((*found)["SequenceNumberRange"]["EndingSequenceNumber"] ==
          answer["Records"].back()["dynamodb"]["SequenceNumber"]);
    endings.insert((*found)["SequenceNumberRange"]["EndingSequenceNumber"]);
  }
  CHECK(endings.size() == 2);
  CHECK(world.page(latest) == ".");
}

TEST_CASE("a closed shard without records has equal starting and ending sequence numbers", "[streams]") {
  Streamed world;
  world.create();
  world.reshard(0, roll);
  const json shards = world.describe()["Shards"];
  const json& range = shards[0]["SequenceNumberRange"];
  CHECK(range["StartingSequenceNumber"] == range["EndingSequenceNumber"]);
  CHECK(world.page(world.iterator(shards[0]["ShardId"], "TRIM_HORIZON")) == ".");
  CHECK(world.page(world.iterator(shards[0]["ShardId"], "AT_SEQUENCE_NUMBER",
                                  range["EndingSequenceNumber"])) == ".");
  world.put("a");
  CHECK(world.page(world.iterator(shards[1]["ShardId"], "TRIM_HORIZON")) == "a");
}

TEST_CASE("disabling a stream closes its open shards and does not change the ends of closed shards",
          "[streams]") {
  Streamed world;
  world.create();
  world.put("a");
  world.reshard(0, split_in_two);
  const std::string ended = world.describe()["Shards"][0]["SequenceNumberRange"]["EndingSequenceNumber"];
  world.put("b");
  world.ok("UpdateTable", {{"TableName", "carts"}, {"StreamSpecification", {{"StreamEnabled", false}}}});
  const json description = world.describe();
  CHECK(description["StreamStatus"] == "DISABLED");
  REQUIRE(description["Shards"].size() == 3);
  std::string seen;
  for (const json& shard : description["Shards"]) {
    CHECK(shard["SequenceNumberRange"].contains("EndingSequenceNumber"));
    seen += world.page(world.iterator(shard["ShardId"], "TRIM_HORIZON"));
  }
  CHECK(description["Shards"][0]["SequenceNumberRange"]["EndingSequenceNumber"] == ended);
  CHECK((seen == "a.b.." || seen == "a..b."));
  // The next stream starts with one shard again.
  world.ok("UpdateTable",
           {{"TableName", "carts"},
            {"StreamSpecification", {{"StreamEnabled", true}, {"StreamViewType", "KEYS_ONLY"}}}});
  const std::string old_arn = world.arn;
  world.arn = world.ok("DescribeTable", {{"TableName", "carts"}})["Table"]["LatestStreamArn"];
  CHECK(world.arn != old_arn);
  CHECK(world.shards().size() == 1);
}

TEST_CASE("a shard that has been closed for a day is forgotten and its iterators report trimmed data",
          "[streams]") {
  Streamed world;
  world.create();
  world.put("a");
  world.reshard(0, roll);
  world.put("b");
  const std::vector<std::string> shards = world.shards();
  const auto age = [&](std::chrono::milliseconds by) {
    engine::Database& database = world.emulator().database();
    database.time_travel().advance(world.scope.account,
                                   database.accounts().of(world.scope.account).now() + by.count(),
                                   /*age_streams=*/true);
  };
  age(24h - 1min);
  const std::string standing = world.iterator(shards[0], "TRIM_HORIZON");
  age(2min);
  CHECK(world.shards() == std::vector{shards[1]});
  CHECK(world.describe()["Shards"][0]["ParentShardId"] == shards[0]);
  CHECK(world.refused_iterator(shards[0], "TRIM_HORIZON") ==
        "Requested resource not found: Shard does not exist");
  CHECK(world.refused("GetRecords", {{"ShardIterator", standing}}) ==
        "The data you are trying to access has been trimmed.");
  CHECK(world.page(world.iterator(shards[1], "TRIM_HORIZON")).empty());
  world.put("c");
  CHECK(world.page(world.iterator(shards[1], "TRIM_HORIZON")) == "c");
}

TEST_CASE("shards can be listed and split or rolled over through the control API", "[streams][control]") {
  Streamed world;
  world.create();
  const auto control = [&](const std::string& method, const std::string& path, const std::string& body = {}) {
    const auto answer = compat::control::answer(
        world.emulator(),
        {.method = method, .path = "/_mayfly/streams/" + path, .body = body, .scope = world.scope});
    return std::to_string(answer.status) + " " + answer.body;
  };
  const std::string first = "shardId-00000001700000000000-00000001";
  const std::string head = R"(200 {"stream":")" + world.arn + R"(","shards":[)";
  CHECK(control("GET", "carts/shards") == head + R"({"id":")" + first + R"(","open":true}]})");
  control("POST", "carts/split", R"({"shard":")" + first + "\"}");
  const std::vector<std::string> shards = world.shards();
  REQUIRE(shards.size() == 3);
  const std::string rolled = control("POST", "carts/roll");
  CHECK(world.shards().size() == 5);
  CHECK(rolled == control("GET", "carts/shards"));
  CHECK(rolled.starts_with(head + R"({"id":")" + first + R"(","open":false},{"id":")"));
  const auto listed = json::parse(rolled.substr(4))["shards"];
  REQUIRE(listed.size() == 5);
  CHECK(listed[3]["parent"] == listed[1]["id"]);
  CHECK(listed[4]["parent"] == listed[2]["id"]);
  CHECK(listed[2]["open"] == false);
  CHECK(listed[4]["open"] == true);

  CHECK(control("POST", "carts/split", R"({"shard":")" + first + "\"}") ==
        R"(409 {"__type":"mayfly#Conflict","message":"Shard )" + first + R"( is already closed."})");
  CHECK(control("POST", "carts/roll", R"({"shard":"shardId-1"})") ==
        R"(404 {"__type":"mayfly#NotFound","message":"The stream of table carts has no shard shardId-1."})");
  CHECK(control("POST", "nowhere/roll").starts_with("404 "));
  CHECK(control("POST", "carts/roll", R"({"shards":1})").starts_with("400 "));
  world.ok("UpdateTable", {{"TableName", "carts"}, {"StreamSpecification", {{"StreamEnabled", false}}}});
  for (const char* method : {"GET carts/shards", "POST carts/split"}) {
    const std::string words = method;
    CHECK(
        control(words.substr(0, words.find(' ')), words.substr(words.find(' ') + 1)) ==
        R"(409 {"__type":"mayfly#Conflict","message":"Table carts has no enabled stream. Enable one with UpdateTable and {\"StreamSpecification\":{\"StreamEnabled\":true,\"StreamViewType\":\"NEW_AND_OLD_IMAGES\"}}."})");
  }
}

TEST_CASE("a call to split or roll over all open shards changes none of them if a limit would be exceeded",
          "[streams][control]") {
  Streamed world(engine::first_shards_max);
  world.create();
  std::stop_source stop;
  const auto control = [&](const std::string& how) {
    const auto answer = compat::control::answer(world.emulator(), {.method = "POST",
                                                                   .path = "/_mayfly/streams/carts/" + how,
                                                                   .scope = world.scope,
                                                                   .stop = stop.get_token()});
    return std::to_string(answer.status) + " " + answer.body;
  };
  const auto shards = [&] {
    engine::Database& database = world.emulator().database();
    return database.catalog()
        .find_stream(world.scope, "carts", world.arn.substr(world.arn.rfind('/') + 1))
        ->shards.size();
  };
  CHECK(control("split").starts_with("200 "));
  CHECK(shards() == 3000);
  CHECK(control("split") == R"(409 {"__type":"mayfly#Conflict","message":)"
                            R"("The stream of table carts would have more than 2000 open shards."})");
  for (int round = 0; round < 3; ++round) CHECK(control("roll").starts_with("200 "));
  CHECK(control("roll") ==
        R"(409 {"__type":"mayfly#Conflict","message":"The stream of table carts would have more than 10000 )"
        R"(shards, including closed ones, which are deleted after a day."})");
  CHECK(shards() == 9000);
  engine::Database& database = world.emulator().database();
  database.time_travel().advance(world.scope.account,
                                 database.accounts().of(world.scope.account).now() + 25h / 1ms,
                                 /*age_streams=*/true);
  CHECK(shards() == 2000);
  CHECK(control("roll").starts_with("200 "));
  stop.request_stop();
  CHECK(control("roll").starts_with("503 "));
  CHECK(shards() == 4000);
}

TEST_CASE("shards and iterators survive a restart", "[streams]") {
  const TemporaryDirectory directory;
  std::string arn, open_iterator, closed_iterator;
  json before;
  {
    Streamed world(3, directory.path());
    world.create();
    for (const char* id : {"a", "b", "c", "d", "e", "f"}) world.put(id);
    const std::vector<std::string> shards = world.shards();
    for (engine::ShardNumber shard = 0; shard < 3; ++shard) world.reshard(shard, roll);
    before = world.describe();
    arn = world.arn;
    closed_iterator = world.iterator(shards[0], "TRIM_HORIZON");
    open_iterator = world.iterator(world.shards()[3], "LATEST");
  }
  Streamed world(7, directory.path());  // the shard count applies only to new streams
  world.arn = arn;
  CHECK(world.describe() == before);
  CHECK(world.page(closed_iterator).ends_with("."));
  std::string seen;
  for (const char* id : {"g", "h", "i", "j", "k", "l", "m", "n"}) world.put(id);
  for (const std::string& shard : world.shards()) seen += world.page(world.iterator(shard, "TRIM_HORIZON"));
  std::erase(seen, '.');
  std::sort(seen.begin(), seen.end());
  CHECK(seen == "abcdefghijklmn");
  CHECK_FALSE(world.page(open_iterator).empty());
}

}  // namespace

}  // namespace mayfly::testing
