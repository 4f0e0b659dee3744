// An emulator with a clock that the test moves and functions that the test writes, for tests of triggers.
//
//   TriggerWorld world;
//   world.function("reminder", [](const json& event) { return InvocationAnswer{.body = "{}"}; });
//   const auto arn = world.create_table("carts");
//   world.map(arn, "reminder", R"("BatchSize":2)");
//   world.put("carts", "a");
//   world.settle();
//   REQUIRE(world.delivered("reminder") == "a");
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compat/emulator.h"
#include "compat/triggers/rest.h"
#include "compat/triggers/triggers.h"
#include "engine/clock.h"

namespace mayfly::testing {

class TriggerWorld {
 public:
  using json = nlohmann::json;
  using Answer = compat::outbound::InvocationAnswer;
  using Handler = std::function<Answer(const json& event)>;

  // In memory, or in a directory that a next world can be made of. `write_fails`: whether storage does;
  // asked by several threads. The environment variable MAYFLY_TEST_HOLDS_NO_RECORDS sets `held_bytes_max`
  // to 0.
  explicit TriggerWorld(std::string directory = {}, std::string destination_directory = {},
                        std::size_t mappings_max = 1'000, std::function<bool()> write_fails = {},
                        std::size_t held_bytes_max = compat::triggers::TriggerOptions().held_bytes_max);
  ~TriggerWorld();

  // Registers http://functions/NAME. Handlers may run on several threads at once.
  void function(
      const std::string& name, Handler handler = [](const json&) { return Answer{.body = "null"}; });
  // Only answers, as the destination http://functions/NAME.
  void endpoint(const std::string& name, Handler handler);
  std::vector<json> calls(const std::string& name) const;
  // How many records each call had: "4 2 2".
  std::string sizes(const std::string& name) const;
  // The ids of all records that were sent, in order: "a b c".
  std::string delivered(const std::string& name) const;

  std::string create_table(const std::string& name);  // with a stream and TTL; its stream's ARN
  void put(const std::string& table, const std::string& id, const std::string& more = {});
  void remove(const std::string& table, const std::string& id);
  json operation(const std::string& name, const std::string& body);

  // "202 {…}"; `target` is "POST /2015-03-31/event-source-mappings".
  std::string rest(const std::string& target, const std::string& body = {},
                   const std::string& invocation_type = {});
  // A call under /_mayfly/ that must succeed: "POST /_mayfly/snapshots".
  json control(const std::string& target, const std::string& body = {});
  // Creates a mapping from the horizon; its UUID.
  std::string map(const std::string& arn, const std::string& function, const std::string& settings = {});
  json mapping(const std::string& uuid);

  // The mappings that are unfinished.
  std::vector<compat::triggers::Triggers::Unfinished> settle(
      std::chrono::milliseconds time_max = std::chrono::seconds(20));
  void advance(std::chrono::milliseconds by, bool age_streams = false);
  compat::triggers::Triggers& triggers() { return emulator_->triggers(); }
  compat::Emulator& emulator() { return *emulator_; }
  void end() { emulator_.reset(); }  // functions may still be at work

  engine::Scope scope{"000000000000", "us-east-1"};

 private:
  class Invoker;
  std::shared_ptr<engine::ManualClock> clock_;
  std::shared_ptr<Invoker> invoker_;
  std::unique_ptr<compat::Emulator> emulator_;
};

}  // namespace mayfly::testing
