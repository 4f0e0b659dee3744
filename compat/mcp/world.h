// The server that tools call: an emulator in this process or a remote server. Tools work with either.
//
//   EmulatorWorld world(emulator);
//   auto answer = world.operate(scope, "DynamoDB_20120810.ListTables", "{}", stop);
//   if (!answer) …                                 // the error says why the server could not be reached
//   answer->status == 200, answer->body == R"({"TableNames":[]})"
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "compat/wire/answer.h"
#include "engine/base/expected.h"
#include "engine/tables/catalog.h"

namespace mayfly::compat {
class Emulator;
}

namespace mayfly::compat::mcp {

using Asked = Expected<Answer, std::string>;

// Thread-safe. A call blocks until the operation has finished or `stop` is requested.
class World {
 public:
  virtual ~World() = default;
  // Calls an operation; `target` is X-Amz-Target.
  virtual Asked operate(const engine::Scope& scope, std::string_view target, const std::string& body,
                        const std::stop_token& stop) = 0;
  // Calls the control API (such as "/_mayfly/clock") or Lambda's API for event source mappings
  // ("/2015-03-31/event-source-mappings/"). `path` can end with a query.
  virtual Asked call(const engine::Scope& scope, std::string_view method, const std::string& path,
                     const std::string& body, const std::stop_token& stop) = 0;
  // Returns the default region, for calls that do not name a region.
  virtual std::string region() = 0;
};

class EmulatorWorld final : public World {
 public:
  // `emulator` must outlive this object.
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
