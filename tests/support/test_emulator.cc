#include "tests/support/test_emulator.h"

#include <catch2/catch.hpp>

namespace mayfly::testing {

TestEmulator::TestEmulator(std::chrono::milliseconds table_delay,
                           std::optional<std::size_t> collection_bytes_max)
    : TestEmulator(compat::EmulatorOptions{.table_delay = table_delay,
                                           .collection_bytes_max = collection_bytes_max}) {}

TestEmulator::TestEmulator(compat::EmulatorOptions options)
    : clock_(std::make_shared<engine::ManualClock>(start)) {
  options.database.clock = clock_;
  auto opened = compat::Emulator::open(std::move(options));
  REQUIRE(opened);
  emulator_ = *std::move(opened);
}

compat::Answer TestEmulator::execute(std::string_view operation, std::string_view body) {
  return emulator_->execute(scope, compat::operation_named(operation), body);
}

std::string TestEmulator::run(std::string_view operation, std::string_view body) {
  const auto answer = execute(operation, body);
  return std::to_string(answer.status) + " " + answer.body;
}

nlohmann::json TestEmulator::ok(std::string_view operation, const nlohmann::json& body) {
  const auto answer = execute(operation, body.dump());
  INFO(operation << " " << body.dump() << "\n" << answer.body);
  REQUIRE(answer.status == 200);
  return nlohmann::json::parse(answer.body);
}

std::string TestEmulator::refused(std::string_view operation, const nlohmann::json& body) {
  const auto answer = execute(operation, body.dump());
  INFO(operation << " " << body.dump() << "\n" << answer.body);
  REQUIRE(answer.status != 200);
  const auto error = nlohmann::json::parse(answer.body);
  return error.value("message", error.value("Message", ""));
}

std::int64_t TestEmulator::advance(std::chrono::milliseconds by) {
  engine::Database& database = emulator_->database();
  return database.time_travel()
      .advance(scope.account, database.accounts().of(scope.account).now() + by.count())
      .expired;
}

}  // namespace mayfly::testing
