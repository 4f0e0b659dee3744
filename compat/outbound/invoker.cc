#include "compat/outbound/invoker.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "engine/base/bell.h"

namespace mayfly::compat::outbound {

std::string_view InvocationAnswer::header(std::string_view name) const {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  const auto found = std::find_if(headers.begin(), headers.end(), [&](const auto& header) {
    return std::equal(name.begin(), name.end(), header.first.begin(), header.first.end(),
                      [&](char a, char b) { return lower(a) == lower(b); });
  });
  return found == headers.end() ? std::string_view{} : std::string_view(found->second);
}

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
