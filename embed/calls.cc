#include "embed/calls.h"

#include <string>

#include "compat/control/control.h"
#include "http/access/sigv4.h"
#include "http/base/log.h"

namespace mayfly::embed {

engine::Scope scope_of(std::string_view account, std::string_view region, const compat::Emulator& emulator) {
  return emulator.scope_of({std::string(account.empty() ? http::default_account : account),
                            region.empty() ? emulator.region() : std::string(region)});
}

compat::Answer execute(compat::Emulator& emulator, const engine::Scope& scope, std::string_view operation,
                       std::string_view body, const std::stop_token& stop) {
  return emulator.execute(scope, compat::operation_named(operation), body, {}, stop);
}

compat::Answer control(compat::Emulator& emulator, const engine::Scope& scope, std::string_view method,
                       std::string_view path, std::string_view body, const std::stop_token& stop) {
  const auto mark = path.find('?');
  const std::string_view query = mark == std::string_view::npos ? std::string_view{} : path.substr(mark + 1);
  compat::Answer answer = compat::control::answer(emulator, {.method = method,
                                                             .path = path.substr(0, mark),
                                                             .query = query,
                                                             .body = body,
                                                             .scope = scope,
                                                             .stop = stop});
  if (answer.source) {
    return compat::error_answer({.kind = compat::Error::Kind::not_acceptable,
                                 .message = "Event streams are available only over HTTP."});
  }
  return answer;
}

std::function<void(std::string_view)> reports_to_the_log() {
  return [](std::string_view sentence) { http::log::write(http::log::Level::error, sentence); };
}

std::function<void(std::string_view)> warns_in_the_log() {
  return [](std::string_view sentence) { http::log::write(http::log::Level::warning, sentence); };
}

}  // namespace mayfly::embed
