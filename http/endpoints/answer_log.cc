#include "http/endpoints/answer_log.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "compat/wire/percent_encoding.h"
#include "http/access/sigv4.h"
#include "http/base/log.h"

namespace mayfly::http::log {

namespace {

std::string shown_target(const Request& request) {
  const bool is_signed = compat::decode_query(request.query()).find("X-Amz-") != std::string::npos;
  return is_signed ? std::string(request.path()) + "?..." : request.target;
}

// Returns the value of the first member with this name, at any depth, or an empty string if the value is not
// a string. Used only for display.
std::string text_member(std::string_view document, std::string_view name) {
  constexpr std::size_t looked_at_max = 4096, shown_max = 300;
  document = document.substr(0, looked_at_max);
  const std::string quoted = '"' + std::string(name) + '"';
  const auto at = document.find(quoted);
  if (at == std::string_view::npos) return {};
  const auto begin = document.find_first_not_of(" \t\r\n:", at + quoted.size());
  if (begin == std::string_view::npos || document[begin] != '"') return {};
  const auto end = document.find('"', begin + 1);
  if (end == std::string_view::npos) return {};
  return std::string(document.substr(begin + 1, std::min(end - begin - 1, shown_max)));
}

}  // namespace

void answer(const Request& request, const Reply& reply, std::optional<std::chrono::nanoseconds> time) {
  if (!enabled(Level::debug)) return;
  std::string line = request.method + " " + shown_target(request);
  if (request.has(Header::x_amz_target)) {
    line += " " + std::string(request.header(Header::x_amz_target));
    if (const auto table = text_member(request.body, "TableName"); !table.empty()) line += " of " + table;
  }
  if (const auto account = claimed_account(request)) line += " of account " + *account;
  line += reply.dropped ? " -> no answer" : " -> " + std::to_string(reply.status);
  if (reply.status != 200 && reply.content_encoding.empty()) {
    const std::string type = text_member(reply.body, "__type");
    if (!type.empty()) line += " " + type.substr(type.find('#') + 1);
  }
  line += ", " + std::to_string(reply.body.size()) + " bytes";
  if (time) {
    char text[32];
    std::snprintf(text, sizeof text, ", %.1f ms", static_cast<double>(time->count()) / 1e6);
    line += text;
  }
  write(Level::debug, line);
}

void control(const Request& request, const Reply& reply) {
  constexpr std::size_t shown_max = 200;
  switch (request.route.kind) {
    case Route::Kind::root:
    case Route::Kind::invocation:
    case Route::Kind::lambda:
    case Route::Kind::mcp:  // its handler logs which tools have changed something
    case Route::Kind::nothing: return;
    case Route::Kind::console:
    case Route::Kind::health:
    case Route::Kind::control: break;
  }
  if (request.method == "GET" || request.method == "HEAD") return;
  const compat::control::ControlCall* const call = request.route.found ? request.route.found->call : nullptr;
  if ((call != nullptr && call->effect == compat::control::Effect::reads) || !enabled(Level::info)) return;
  const auto shown = [](std::string_view text) {
    return text.size() <= shown_max ? std::string(text) : std::string(text.substr(0, shown_max)) + "...";
  };
  const auto without_end = [](std::string_view text) {
    return text.substr(0, text.size() - (text.ends_with('\n') ? 1 : 0));
  };
  const std::string_view account = request.header(Header::x_mayfly_account);
  const bool secret = call == nullptr || call->is_secret;
  write(Level::info, request.method + " " + std::string(request.path()) +
                         (secret || request.body.empty() ? "" : " " + shown(request.body)) + " of account " +
                         std::string(account.empty() ? default_account : account) + " -> " +
                         std::to_string(reply.status) +
                         (secret || reply.body.empty() ? "" : " " + shown(without_end(reply.body))));
}

}  // namespace mayfly::http::log
