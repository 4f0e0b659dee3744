// Compares the results of searches with distances that the test computes, and tests what golden scripts
// cannot express: floats and settings.
#include "compat/items/vector_search.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "compat/items/vector_entries.h"
#include "compat/settings/settings.h"
#include "engine/values/number.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {

namespace {

using nlohmann::json;

json list_of(const std::vector<std::string>& numbers) {
  json list = json::array();
  for (const auto& number : numbers) list.push_back({{"N", number}});
  return list;
}

json index_of(const std::string& name, int dimensions, const std::string& distance) {
  return {{"IndexName", name},
          {"VectorAttribute", {{"AttributeName", "v"}}},
          {"Projection", {{"ProjectionType", "KEYS_ONLY"}}},
          {"Dimensions", dimensions},
          {"DistanceFunction", distance}};
}

json table_with(const json& indexes) {
  return {{"TableName", "notes"},
          {"BillingMode", "PAY_PER_REQUEST"},
          {"AttributeDefinitions", {{{"AttributeName", "id"}, {"AttributeType", "S"}}}},
          {"KeySchema", {{{"AttributeName", "id"}, {"KeyType", "HASH"}}}},
          {"VectorIndexes", indexes}};
}

std::optional<float> float_of(std::string_view number) {
  return compat::to_float(*engine::Number::parse(number));
}

TEST_CASE("a number becomes the nearest float even if its double lies midway between two floats") {
  CHECK(float_of("0") == 0.0f);
  CHECK(float_of("0.1") == 0.1f);
  CHECK(float_of("-123456.789") == -123456.789f);
  CHECK(float_of("16777217") == 16777216.0f);  // midway between two floats: rounds to the even float
  CHECK(float_of("16777219") == 16777220.0f);
  // This number is slightly above the midpoint between two floats. A double cannot represent the difference.
  CHECK(float_of("16777217.0000000000000000000001") == 16777218.0f);
  CHECK(float_of("0.0123456789012345678901234567") == 0.0123456789012345678901234567f);
  CHECK(float_of("3.4028235E38") == std::numeric_limits<float>::max());
  CHECK(float_of("3.4028236E38") == std::nullopt);
  CHECK(float_of("-1E125") == std::nullopt);
  CHECK(float_of("1E-130") == 0.0f);
  CHECK(float_of("1E-45") == std::numeric_limits<float>::denorm_min());
}

TEST_CASE("a search returns the nearest items in order of distance") {
  const auto distance = GENERATE("COSINE", "EUCLIDEAN", "DOT_PRODUCT");
  const auto seed = GENERATE(range(1u, 6u));
  CAPTURE(distance, seed);
  constexpr int dimensions = 7;
  constexpr std::size_t wanted = 10;
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> thousandths(-1000, 1000);
  const auto draw = [&] {
    std::vector<std::string> numbers;
    for (int i = 0; i < dimensions; ++i)
      numbers.push_back(engine::Number::parse(std::to_string(thousandths(random)) + "E-3")->to_string());
    return numbers;
  };
  TestEmulator emulator;
  emulator.ok("CreateTable", table_with(json::array({index_of("by_v", dimensions, distance)})));
  std::vector<std::pair<double, std::string>> reckoned;
  const auto sought = draw();
  for (int i = 0; i < 60; ++i) {
    const auto vector = draw();
    const std::string id = std::to_string(i);
    emulator.ok("PutItem",
                {{"TableName", "notes"}, {"Item", {{"id", {{"S", id}}}, {"v", {{"L", list_of(vector)}}}}}});
    double product = 0, difference = 0, a = 0, b = 0;
    for (int d = 0; d < dimensions; ++d) {
      const double x = std::stof(sought[static_cast<std::size_t>(d)]);
      const double y = std::stof(vector[static_cast<std::size_t>(d)]);
      product += x * y;
      difference += (x - y) * (x - y);
      a += x * x;
      b += y * y;
    }
    reckoned.emplace_back(std::string(distance) == "DOT_PRODUCT" ? -product
                          : std::string(distance) == "COSINE"    ? 1 - product / std::sqrt(a * b)
                                                                 : std::sqrt(difference),
                          id);
  }
  std::sort(reckoned.begin(), reckoned.end());
  const json found = emulator.ok("SearchVectors", {{"TableName", "notes"},
                                                   {"IndexName", "by_v"},
                                                   {"SearchVector", list_of(sought)},
                                                   {"TopK", wanted}})["SearchResults"];
  REQUIRE(found.size() == wanted);
  for (std::size_t i = 0; i < wanted; ++i) {
    CHECK(found[i]["Item"]["id"]["S"] == reckoned[i].second);
    const double score = found[i]["Score"];
    CHECK(std::abs(score) == Approx(std::abs(reckoned[i].first)).margin(1e-12));
  }
}

TEST_CASE("a vector is charged four bytes per dimension on writes and the size of its numbers on reads") {
  TestEmulator emulator;
  emulator.ok("CreateTable", table_with(json::array({index_of("by_v", 1536, "COSINE")})));
  json vector = json::array();
  for (int i = 0; i < 1536; ++i) vector.push_back({{"N", "0.12345678"}});
  const auto units = [](const json& answer) { return answer["ConsumedCapacity"]["CapacityUnits"]; };
  const json key = {{"id", {{"S", "1"}}}};
  CHECK(units(emulator.ok("PutItem", {{"TableName", "notes"},
                                      {"Item", {{"id", {{"S", "1"}}}, {"v", {{"L", vector}}}}},
                                      {"ReturnConsumedCapacity", "TOTAL"}})) == 7);
  // Each of the 1,536 numbers takes 5 + 1 bytes, and the list takes 3 bytes: 9,219 bytes in total.
  CHECK(units(emulator.ok("GetItem", {{"TableName", "notes"},
                                      {"Key", key},
                                      {"ConsistentRead", true},
                                      {"ReturnConsumedCapacity", "TOTAL"}})) == 3);
  const auto size = [&] {
    return emulator.ok("DescribeTable", {{"TableName", "notes"}})["Table"]["TableSizeBytes"];
  };
  CHECK(size() == 3 + 1 + 4 * 1536);
  CHECK(units(emulator.ok("DeleteItem",
                          {{"TableName", "notes"}, {"Key", key}, {"ReturnConsumedCapacity", "TOTAL"}})) == 7);
  CHECK(size() == 0);
}

TEST_CASE("a table's size is never negative while vectors are written and deleted", "[races]") {
  TestEmulator emulator;
  emulator.ok("CreateTable", table_with(json::array({index_of("by_v", 256, "COSINE")})));
  json vector = json::array();
  for (int i = 0; i < 256; ++i) vector.push_back({{"N", "0.12345678"}});
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    while (!stop) {
      for (const char* id : {"1", "2", "3", "4"})
        emulator.execute(
            "PutItem",
            json{{"TableName", "notes"}, {"Item", {{"id", {{"S", id}}}, {"v", {{"L", vector}}}}}}.dump());
      for (const char* id : {"1", "2", "3", "4"})
        emulator.execute("DeleteItem", json{{"TableName", "notes"}, {"Key", {{"id", {{"S", id}}}}}}.dump());
    }
  });
  std::int64_t smallest = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t size =
        emulator.ok("DescribeTable", {{"TableName", "notes"}})["Table"]["TableSizeBytes"];
    smallest = std::min(smallest, size);
  }
  stop = true;
  writer.join();
  CHECK(smallest == 0);
}

TEST_CASE("vector indexes are unchanged after they are stored and read") {
  compat::TableSettings settings;
  settings.vector_indexes = {{.name = "by_v",
                              .attribute = "v",
                              .dimensions = 1024,
                              .distance = "COSINE",
                              .search_schema = {{.name = "h", .hash = true}, {.name = "f"}},
                              .projection = "INCLUDE",
                              .included = {"a", "b"}},
                             {.name = "by_w", .attribute = "w", .dimensions = 1, .distance = "EUCLIDEAN"}};
  engine::Table table;
  CHECK_FALSE(compat::has_vector_indexes(table));
  compat::keep_settings(table, settings);
  CHECK(compat::has_vector_indexes(table));
  CHECK(compat::settings_of(table) == settings);
  CHECK(compat::vector_indexes_of(table) == settings.vector_indexes);
}

}  // namespace

}  // namespace mayfly::testing
