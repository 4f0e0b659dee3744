// Tests emulators whose ids come from a seed.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "compat/triggers/triggers.h"
#include "engine/base/random.h"
#include "tests/support/test_emulator.h"

namespace mayfly::testing {
namespace {

using nlohmann::json;

// The ids of a table and of a mapping of its stream.
std::string ids(std::uint64_t seed) {
  compat::EmulatorOptions options;
  options.database.random = std::make_shared<engine::SeededRandom>(seed);
  TestEmulator emulator(std::move(options));
  const json table =
      emulator.ok("CreateTable", json::parse(R"({"TableName":"carts","BillingMode":"PAY_PER_REQUEST",
          "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],
          "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
          "StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}})"))["TableDescription"];
  const auto mapping = emulator.emulator().triggers().create(
      {.scope = emulator.scope,
       .function = {.region = emulator.scope.region, .account = emulator.scope.account, .name = "f"},
       .event_source_arn = table["LatestStreamArn"],
       .enabled = false});
  REQUIRE(mapping);
  return table["TableId"].get<std::string>() + " " + mapping->mapping.uuid;
}

}  // namespace

TEST_CASE("emulators with the same seed assign the same ids to tables and mappings") {
  CHECK(ids(1) == ids(1));
  CHECK(ids(1) != ids(2));
}

}  // namespace mayfly::testing
