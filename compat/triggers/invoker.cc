#include "compat/triggers/invoker.h"

#include <memory>
#include <optional>

#include "compat/triggers/signal.h"

namespace mayfly::compat::triggers {

Invoker::Answer Invoker::post(Invocation invocation, std::stop_token stop) {
  struct Slot {
    Signal signal;
    std::optional<Answer> answer;
  };
  const auto slot = std::make_shared<Slot>();
  const auto before = slot->signal.seen();
  start(std::move(invocation), std::move(stop), [slot](Answer answer) {
    slot->answer = std::move(answer);
    slot->signal.raise();
  });
  slot->signal.wait(before, std::nullopt);
  return *std::move(slot->answer);
}

}  // namespace mayfly::compat::triggers
