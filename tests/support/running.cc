#include "tests/support/running.h"

#include <catch2/catch.hpp>

namespace mayfly::testing {

using nlohmann::json;

Running::Running(http::ServerSettings settings, compat::EmulatorOptions options)
    : emulator(*compat::Emulator::open(std::move(options))),
      server(*http::Server::start(*emulator, std::move(settings))) {}

HttpAnswer Running::ask(std::string_view bytes, bool to_head) const {
  HttpClient client(port());
  client.send(bytes);
  return client.receive(to_head);
}

std::string Running::request(std::string_view method, std::string_view target, std::string_view body) const {
  return http_request(method, target, {{"Content-Type", "application/json"}, {"X-Mayfly-Account", account}},
                      body);
}

HttpAnswer Running::call(std::string_view method, std::string_view target, std::string_view body) {
  return ask(request(method, target, body));
}

json Running::ok(std::string_view method, std::string_view target, std::string_view body) {
  const HttpAnswer answer = call(method, target, body);
  INFO(answer.body);
  REQUIRE(answer.status == 200);
  return json::parse(answer.body);
}

json Running::execute(std::string_view operation, std::string_view body) {
  std::string bytes = operation_request(operation, body);
  const std::string_view key = "AKIDEXAMPLE";
  bytes.replace(bytes.find(key), key.size(), account);
  const HttpAnswer answer = ask(bytes);
  INFO(answer.body);
  REQUIRE(answer.status == 200);
  return json::parse(answer.body);
}

void Running::create_table(const std::string& name, bool stream, bool ttl) {
  json table = {{"TableName", name},
                {"AttributeDefinitions", {{{"AttributeName", "id"}, {"AttributeType", "S"}}}},
                {"KeySchema", {{{"AttributeName", "id"}, {"KeyType", "HASH"}}}},
                {"BillingMode", "PAY_PER_REQUEST"}};
  if (stream)
    table["StreamSpecification"] = {{"StreamEnabled", true}, {"StreamViewType", "NEW_AND_OLD_IMAGES"}};
  execute("CreateTable", table.dump());
  if (!ttl) return;
  execute("UpdateTimeToLive", json{{"TableName", name},
                                   {"TimeToLiveSpecification", {{"Enabled", true}, {"AttributeName", "ttl"}}}}
                                  .dump());
}

void Running::put(const std::string& table, const std::string& id, const std::string& more) {
  execute("PutItem", R"({"TableName":")" + table + R"(","Item":{"id":{"S":")" + id + R"("})" + more + "}}");
}

json Running::removed(const std::string& table) {
  const json arn = execute("DescribeTable", json{{"TableName", table}}.dump())["Table"]["LatestStreamArn"];
  const json stream = execute("DescribeStream", json{{"StreamArn", arn}}.dump())["StreamDescription"];
  json found = json::array();
  for (const json& shard : stream["Shards"]) {
    const json iterator =
        execute("GetShardIterator",
                json{{"StreamArn", arn}, {"ShardId", shard["ShardId"]}, {"ShardIteratorType", "TRIM_HORIZON"}}
                    .dump())["ShardIterator"];
    const json page = execute("GetRecords", json{{"ShardIterator", iterator}}.dump());
    for (const json& record : page["Records"]) {
      if (record["eventName"] != "REMOVE" || !record.contains("userIdentity")) continue;
      const auto created = record["dynamodb"]["ApproximateCreationDateTime"].get<std::int64_t>();
      constexpr std::int64_t new_year_2031 = 1'924'992'000;
      found.push_back({record["dynamodb"]["Keys"]["id"]["S"], created - new_year_2031});
    }
  }
  return found;
}

std::size_t Running::count_waiting() {
  std::size_t count = 0;
  const json points = ok("GET", "/_mayfly/failpoints");
  for (const json& point : points["failpoints"]) count += point["state"] == "waiting" ? 1 : 0;
  return count;
}

}  // namespace mayfly::testing
