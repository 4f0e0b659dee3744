// ExecuteStatement's NextToken, which golden scripts cannot carry from one answer to the next request.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "support/test_emulator.h"

namespace mayfly::testing {
namespace {

using nlohmann::json;

constexpr auto table = R"({"TableName":"music","BillingMode":"PAY_PER_REQUEST",
    "AttributeDefinitions":[{"AttributeName":"artist","AttributeType":"S"}],
    "KeySchema":[{"AttributeName":"artist","KeyType":"HASH"}]})";

json statement(const std::string& text, const json& more = json::object()) {
  json request = {{"Statement", text}};
  request.update(more);
  return request;
}

TEST_CASE("pages of a statement, followed by NextToken, hold every item once") {
  TestEmulator emulator;
  emulator.ok("CreateTable", json::parse(table));
  for (int i = 0; i < 5; ++i) {
    emulator.ok("ExecuteStatement",
                statement("INSERT INTO music VALUE {'artist':?}", {{"Parameters", {{{"S", std::to_string(i)}}}}}));
  }
  std::multiset<std::string> seen;
  json request = statement("SELECT * FROM music", {{"Limit", 2}});
  int pages = 0;
  for (; pages < 10; ++pages) {
    const json answer = emulator.ok("ExecuteStatement", request);
    for (const json& item : answer["Items"]) seen.insert(item["artist"]["S"]);
    if (!answer.contains("NextToken")) break;
    request["NextToken"] = answer["NextToken"];
  }
  CHECK(pages == 2);
  CHECK(seen == std::multiset<std::string>{"0", "1", "2", "3", "4"});
}

TEST_CASE("a NextToken is good for its statement and its parameters, with any limit") {
  TestEmulator emulator;
  emulator.ok("CreateTable", json::parse(table));
  emulator.ok("ExecuteStatement", statement("INSERT INTO music VALUE {'artist':'Nina','plays':1}"));
  emulator.ok("ExecuteStatement", statement("INSERT INTO music VALUE {'artist':'Miles','plays':1}"));
  const std::string select = "SELECT * FROM music WHERE plays = ?";
  const json one = {{"Parameters", {{{"N", "1"}}}}}, two = {{"Parameters", {{{"N", "2"}}}}};
  json first = statement(select, one);
  first["Limit"] = 1;
  const std::string token = emulator.ok("ExecuteStatement", first)["NextToken"];

  json request = statement(select, one);
  request["NextToken"] = token;
  CHECK(emulator.ok("ExecuteStatement", request)["Items"].size() == 1);
  request["Parameters"] = two["Parameters"];
  CHECK(emulator.refused("ExecuteStatement", request) == "NextToken does not match request");
  request = statement("SELECT artist FROM music WHERE plays = ?", one);
  request["NextToken"] = token;
  CHECK(emulator.refused("ExecuteStatement", request) == "NextToken does not match request");
  request["NextToken"] = "A" + token.substr(1);
  CHECK(emulator.refused("ExecuteStatement", request) == "Invalid NextToken");
  request["NextToken"] = "";
  CHECK(emulator.refused("ExecuteStatement", request) ==
        "1 validation error detected: Value '' at 'nextToken' failed to satisfy constraint: Member must have length "
        "greater than or equal to 1");
}

}  // namespace
}  // namespace mayfly::testing
