// What tools ask: an emulator in this process, or a server somewhere else. Tools know no difference.
//
//   EmulatorWorld world(emulator);
//   auto answer = world.operate(scope, "DynamoDB_20120810.ListTables", "{}", stop);
//   if (!answer) …                                 // a sentence: nobody could be asked
//   answer->status == 200, answer->body == R"({"TableNames":[]})"
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "engine/catalog.h"
#include "engine/expected.h"

namespace mayfly::compat {
class Emulator;
}

namespace mayfly::compat::mcp {

struct WorldAnswer {
  int status = 200;
  std::string body;
};
using Asked = Expected<WorldAnswer, std::string>;

// Thread-safe. A call may wait as long as what it asks for does, though not beyond a request to `stop`.
class World {
 public:
  virtual ~World() = default;
  // An operation; `target` is X-Amz-Target.
  virtual Asked operate(const engine::Scope& scope, std::string_view target, const std::string& body,
                        const std::stop_token& stop) = 0;
  // A call of the control API, "/_mayfly/clock", or of Lambda's for event source mappings,
  // "/2015-03-31/event-source-mappings/". `path` may end with a query.
  virtual Asked call(const engine::Scope& scope, std::string_view method, const std::string& path,
                     const std::string& body, const std::stop_token& stop) = 0;
  // Of who names none.
  virtual std::string region() = 0;
};

class EmulatorWorld final : public World {
 public:
  // The emulator outlives it.
  explicit EmulatorWorld(Emulator& emulator) : emulator_(emulator) {}
  Asked operate(const engine::Scope& scope, std::string_view target, const std::string& body,
                const std::stop_token& stop) override;
  Asked call(const engine::Scope& scope, std::string_view method, const std::string& path,
             const std::string& body, const std::stop_token& stop) override;
  std::string region() override;

 private:
  Emulator& emulator_;
};

}  // namespace mayfly::compat::mcp
