// An in-memory emulator whose clock only the test moves. Tests compare complete response strings.
//
//   TestEmulator emulator;
//   REQUIRE(emulator.run("ListTables", "{}") == R"(200 {"TableNames":[]})");
//   auto table = emulator.ok("DescribeTable", {{"TableName", "music"}})["Table"];
//   emulator.advance(61s);
#pragma once

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "compat/emulator.h"
#include "engine/base/clock.h"

namespace mayfly::testing {

class TestEmulator {
 public:
  static constexpr engine::Instant start = 1'700'000'000'000;  // 2023-11-14T22:13:20Z

  explicit TestEmulator(std::chrono::milliseconds table_delay = {},
                        std::optional<std::size_t> collection_bytes_max = {});
  // `options.database.clock` is replaced.
  explicit TestEmulator(compat::EmulatorOptions options);

  // Executes an operation of any service by its name. Returns "200 {…}", with the unchanged body.
  std::string run(std::string_view operation, std::string_view body);
  compat::Answer execute(std::string_view operation, std::string_view body);
  // Fails the test unless the response is 200.
  nlohmann::json ok(std::string_view operation, const nlohmann::json& body);
  // Fails the test unless the response is an error. Returns its message.
  std::string refused(std::string_view operation, const nlohmann::json& body);

  // Returns the number of expired items, after they are deleted.
  std::int64_t advance(std::chrono::milliseconds by);
  [[nodiscard]] engine::Instant now() const { return clock_->now(); }

  // The account and region of the following requests.
  engine::Scope scope{"000000000000", "us-east-1"};
  [[nodiscard]] compat::Emulator& emulator() { return *emulator_; }

 private:
  std::shared_ptr<engine::ManualClock> clock_;
  std::unique_ptr<compat::Emulator> emulator_;
};

}  // namespace mayfly::testing
