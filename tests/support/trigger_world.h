// An emulator for tests of triggers. The test moves its clock and implements the functions.
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
#include "engine/base/clock.h"

namespace mayfly::testing {

class TriggerWorld {
 public:
  using json = nlohmann::json;
  using Answer = compat::outbound::InvocationAnswer;
  using Handler = std::function<Answer(const json& event)>;

  // In memory, or in a directory that a later world can reopen. `write_fails` says whether writes to storage
  // fail; several threads call it. The environment variable MAYFLY_TEST_HOLDS_NO_RECORDS sets
  // `held_bytes_max` to 0.
  explicit TriggerWorld(std::string directory = {}, std::string destination_directory = {},
                        std::size_t mappings_max = 1'000, std::function<bool()> write_fails = {},
                        std::size_t held_bytes_max = compat::triggers::TriggerOptions().held_bytes_max);
  ~TriggerWorld();

  // Registers http://functions/NAME. Handlers can run on several threads at the same time.
  void function(
      const std::string& name, Handler handler = [](const json&) { return Answer{.body = "null"}; });
  // Handles http://functions/NAME as a destination, without registering a function.
  void endpoint(const std::string& name, Handler handler);
  std::vector<json> calls(const std::string& name) const;
  // The number of records in each call: "4 2 2".
  std::string sizes(const std::string& name) const;
  // The ids of all delivered records, in order: "a b c".
  std::string delivered(const std::string& name) const;

  std::string create_table(const std::string& name);  // with a stream and TTL; returns the stream's ARN
  void put(const std::string& table, const std::string& id, const std::string& more = {});
  void remove(const std::string& table, const std::string& id);
  json operation(const std::string& name, const std::string& body);

  // Returns "202 {…}". `target` is, for example, "POST /2015-03-31/event-source-mappings".
  std::string rest(const std::string& target, const std::string& body = {},
                   const std::string& invocation_type = {});
  // A control call that must succeed: "POST /_mayfly/snapshots".
  json control(const std::string& target, const std::string& body = {});
  // Creates a mapping that starts at TRIM_HORIZON. Returns its UUID.
  std::string map(const std::string& arn, const std::string& function, const std::string& settings = {});
  json mapping(const std::string& uuid);

  // Returns the unfinished mappings.
  std::vector<compat::triggers::Triggers::Unfinished> settle(
      std::chrono::milliseconds time_max = std::chrono::seconds(20));
  void advance(std::chrono::milliseconds by, bool age_streams = false);
  compat::triggers::Triggers& triggers() { return emulator_->triggers(); }
  compat::Emulator& emulator() { return *emulator_; }
  void end() { emulator_.reset(); }  // functions can still be running

  engine::Scope scope{"000000000000", "us-east-1"};

 private:
  class Invoker;
  std::shared_ptr<engine::ManualClock> clock_;
  std::shared_ptr<Invoker> invoker_;
  std::unique_ptr<compat::Emulator> emulator_;
};

}  // namespace mayfly::testing
