#include "compat/control/control.h"

#include <nlohmann/json.hpp>

#include "compat/calls/call.h"
#include "compat/control/index.h"
#include "compat/wire/percent_encoding.h"
#include "engine/base/attempt.h"
#include "engine/base/whole_number.h"

namespace mayfly::compat::control {
namespace {

Answer call_too_large(std::string message) {
  Answer answer = error_answer({.kind = Error::Kind::bad_request, .message = std::move(message)});
  answer.status = 413;
  return answer;
}

// Returns the query's parameters that have a description in `members`. If a value should be a whole number
// but is not, it remains a string, which check() then rejects.
json::Tree read_query(std::string_view query, std::span<const Member> members) {
  json::Tree tree = json::Tree::object();
  for (const Member& member : members) {
    const auto text = query_value(query, member.name);
    if (!text) continue;
    const auto number = engine::whole_number<std::int64_t>(*text);
    tree[std::string(member.name)] =
        member.kind == Kind::whole && number ? json::Tree(*number) : json::Tree(*text);
  }
  return tree;
}

Answer run(Emulator& emulator, const Request& request, const FoundCall& found) {
  const ControlCall& described = *found.call;
  if (request.body.size() > call_bytes_max) {
    return call_too_large("The body must not exceed " + std::to_string(call_bytes_max) + " bytes.");
  }
  Answer answer;
  answer.content_type = described.answer_type;
  if (!described.admits_everyone) {
    const auto admitted = emulator.accounts().admit(request.scope.account);
    if (!admitted) return error_answer(admitted.error());
  }
  json::Tree body = json::Tree::object();
  if (!request.body.empty()) {
    auto tree = json::parse_tree(request.body, json::Decimals::read, call_values_max);
    if (!tree && tree.error() == json::NoTree::too_many_values) {
      return call_too_large("The body must not contain more than " + std::to_string(call_values_max) +
                            " JSON values.");
    }
    if (!tree || !tree->is_object()) {
      return error_answer(error::validation("The body must be a JSON object.").error);
    }
    body = *std::move(tree);
  }
  const json::Tree query = read_query(request.query, described.query);
  if (const auto fits = check(query, described.query, "this call"); !fits) return error_answer(fits.error());
  if (const auto fits = check(body, described.body, "this call"); !fits) return error_answer(fits.error());
  Call call{.emulator = emulator,
            .scope = request.scope,
            .parameters = found.parameters,
            .query = Body(&query, described.query),
            .body = Body(&body, described.body),
            .body_text = request.body,
            .stop = request.stop,
            .in_pieces = request.in_pieces,
            .answer = answer};
  auto outcome = described.handle(call);
  if (!outcome) return error_answer(outcome.error());
  if (!outcome->is_null()) answer.body = json::print(*outcome);
  return answer;
}

}  // namespace

Answer answer(Emulator& emulator, const Request& request) {
  return answer(emulator, request, find_call(request.method, request.path));
}

Answer answer(Emulator& emulator, const Request& request, const FoundCall& found) {
  if (found.call != nullptr) {
    return engine::attempt(
        [&] { return run(emulator, request, found); },
        [](std::string_view) { return error_answer(error::internal_server_error().error); });
  }
  if (found.allow.empty())
    return error_answer(not_found("Unknown path " + std::string(request.path) + ".").error);
  Answer answer = error_answer({.kind = Error::Kind::method_not_allowed,
                                .message = std::string(request.path) + " does not support " +
                                           std::string(request.method) + ", only " + found.allow + "."});
  answer.headers.emplace_back("Allow", found.allow);
  return answer;
}

}  // namespace mayfly::compat::control
