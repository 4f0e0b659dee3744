// Follows ExecuteStatement's NextToken through all pages. Golden scripts have no loops.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/support/test_emulator.h"

namespace mayfly::testing {

namespace {

using nlohmann::json;

constexpr auto music_table = R"({"TableName":"music","BillingMode":"PAY_PER_REQUEST",
    "AttributeDefinitions":[{"AttributeName":"artist","AttributeType":"S"}],
    "KeySchema":[{"AttributeName":"artist","KeyType":"HASH"}]})";

json statement(const std::string& text, const json& more = json::object()) {
  json request = {{"Statement", text}};
  request.update(more);
  return request;
}

TEST_CASE("following NextToken returns every item exactly once") {
  TestEmulator emulator;
  emulator.ok("CreateTable", json::parse(music_table));
  for (int i = 0; i < 5; ++i) {
    emulator.ok("ExecuteStatement", statement("INSERT INTO music VALUE {'artist':?}",
                                              {{"Parameters", {{{"S", std::to_string(i)}}}}}));
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

TEST_CASE("the pages of a statement with several lookups return each item once and in order with any Limit") {
  TestEmulator emulator;
  json with_year = json::parse(music_table);
  with_year["AttributeDefinitions"].push_back({{"AttributeName", "year"}, {"AttributeType", "N"}});
  with_year["KeySchema"].push_back({{"AttributeName", "year"}, {"KeyType", "RANGE"}});
  emulator.ok("CreateTable", with_year);
  std::string artists;
  std::vector<std::string> expected, descending;
  for (char artist = 'a'; artist < 'a' + 13; ++artist) {
    artists += std::string(artists.empty() ? "'" : ",'") + artist + "'";
    if (artist == 'c') continue;  // the lookup of 'c' finds nothing
    for (const char* year : {"1", "2", "3"}) {
      emulator.ok("ExecuteStatement", statement("INSERT INTO music VALUE {'artist':'" +
                                                std::string(1, artist) + "','year':" + year + "}"));
      expected.push_back(artist + std::string(year));
    }
  }
  descending.assign(expected.rbegin(), expected.rend());
  const auto read_all = [&](const std::string& text, int limit, std::size_t& pages) {
    std::vector<std::string> seen;
    json request = statement(text);
    if (limit > 0) request["Limit"] = limit;
    for (pages = 1;; ++pages) {
      const json answer = emulator.ok("ExecuteStatement", request);
      CHECK((limit == 0 || answer["Items"].size() <= static_cast<std::size_t>(limit)));
      CHECK_FALSE(answer.contains("LastEvaluatedKey"));
      for (const json& item : answer["Items"]) {
        seen.push_back(item["artist"]["S"].get<std::string>() + item["year"]["N"].get<std::string>());
      }
      if (!answer.contains("NextToken")) return seen;
      request["NextToken"] = answer["NextToken"];
    }
  };
  const std::string in = "SELECT * FROM music WHERE artist IN [" + artists + "]";
  std::size_t pages = 0;
  CHECK(read_all(in, 0, pages) == expected);
  CHECK(pages == 2);  // the first page has ten lookups, and the second has three
  for (int limit = 1; limit < 40; ++limit) {
    INFO("limit " << limit);
    CHECK(read_all(in, limit, pages) == expected);
    CHECK(read_all(in + " ORDER BY artist DESC, year DESC", limit, pages) == descending);
  }
  // Here the lookups have complete keys: 26 lookups of at most one item each.
  std::vector<std::string> odd;
  for (const std::string& each : expected) {
    if (each[1] != '2') odd.push_back(each);
  }
  CHECK(read_all(in + " AND year IN (1, 3)", 0, pages) == odd);
  CHECK(pages == 3);
  CHECK(read_all(in + " AND year IN (1, 3)", 7, pages) == odd);
}

TEST_CASE("a page of a statement with several lookups ends at 1 MB in total") {
  TestEmulator emulator;
  emulator.ok("CreateTable", json::parse(music_table));
  for (const char* artist : {"a", "b", "c", "d"}) {
    emulator.ok("ExecuteStatement",
                statement("INSERT INTO music VALUE {'artist':?,'text':?}",
                          {{"Parameters", {{{"S", artist}}, {{"S", std::string(390'000, 'x')}}}}}));
  }
  json request = statement("SELECT artist FROM music WHERE artist IN ['a','b','c','d']");
  const json first = emulator.ok("ExecuteStatement", request);
  CHECK(first["Items"].size() == 3);
  request["NextToken"] = first["NextToken"];
  const json second = emulator.ok("ExecuteStatement", request);
  CHECK(second["Items"].size() == 1);
  CHECK_FALSE(second.contains("NextToken"));
}

TEST_CASE("a NextToken is valid with any Limit but only for its own statement and parameters") {
  TestEmulator emulator;
  emulator.ok("CreateTable", json::parse(music_table));
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
        "1 validation error detected: Value '' at 'nextToken' failed to satisfy constraint: Member must have "
        "length "
        "greater than or equal to 1");
}

}  // namespace

}  // namespace mayfly::testing
