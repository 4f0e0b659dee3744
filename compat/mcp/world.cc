#include "compat/mcp/world.h"

#include "compat/control/control.h"
#include "compat/emulator.h"
#include "compat/triggers/rest.h"

namespace mayfly::compat::mcp {

Asked EmulatorWorld::operate(const engine::Scope& scope, std::string_view target, const std::string& body,
                             const std::stop_token& stop) {
  Answer answer = emulator_.execute(emulator_.scope_of(scope), target, body, {}, stop);
  if (answer.status == Answer::no_status) return Unexpected{std::string(closed_by_fault)};
  return answer;
}

Asked EmulatorWorld::call(const engine::Scope& asked, std::string_view method, const std::string& path,
                          const std::string& body, const std::stop_token& stop) {
  const engine::Scope scope = emulator_.scope_of(asked);
  const std::string_view whole = path;
  const auto mark = whole.find('?');
  const std::string_view bare = whole.substr(0, mark);
  const std::string_view query = mark == std::string_view::npos ? std::string_view() : whole.substr(mark + 1);
  if (triggers::is_rest_path(bare)) {
    return triggers::answer_rest(
        emulator_.triggers(),
        {.scope = scope, .method = method, .path = bare, .query = query, .body = body, .stop = stop});
  }
  return control::answer(
      emulator_,
      {.method = method, .path = bare, .query = query, .body = body, .scope = scope, .stop = stop});
}

std::string EmulatorWorld::region() { return emulator_.region(); }

}  // namespace mayfly::compat::mcp
