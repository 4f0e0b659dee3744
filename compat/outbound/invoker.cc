#include "compat/outbound/invoker.h"

#include <memory>
#include <optional>

#include "engine/bell.h"

namespace mayfly::compat::outbound {

Invoker::Answer Invoker::post(Invocation invocation, std::stop_token stop) {
  struct Slot {
    engine::Bell bell;
    std::optional<Answer> answer;
  };
  const auto slot = std::make_shared<Slot>();
  const auto before = slot->bell.ticket();
  start(std::move(invocation), std::move(stop), [slot](Answer answer) {
    slot->answer = std::move(answer);
    slot->bell.ring();
  });
  slot->bell.wait(before, std::nullopt);
  return *std::move(slot->answer);
}

}  // namespace mayfly::compat::outbound
