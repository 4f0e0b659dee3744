#include "compat/triggers/outcome.h"

#include <algorithm>

#include "compat/wire/json.h"

namespace mayfly::compat::triggers {
namespace {

using Kind = json::Value::Kind;

// Where the next try begins; the batch's size: nothing failed.
std::size_t first_failed(const json::Value& body, std::span<const Record> batch) {
  const json::Value* failures = body.member("batchItemFailures");
  if (failures == nullptr) return batch.size();
  if (!failures->is(Kind::array)) return 0;
  std::size_t first = batch.size();
  for (const json::Value& failure : failures->items()) {
    const json::Value* identifier = failure.member("itemIdentifier");
    if (identifier == nullptr) return 0;
    const auto record = std::find_if(batch.begin(), batch.end(),
                                     [&](const Record& one) { return one.number == identifier->string(); });
    if (record == batch.end()) return 0;
    first = std::min(first, static_cast<std::size_t>(record - batch.begin()));
  }
  return first;
}

}  // namespace

std::optional<std::string> function_error(const outbound::InvocationAnswer& answer) {
  if (!answer.function_error.empty()) return answer.function_error;
  if (answer.status >= 300) return "Unhandled";
  const auto body = json::parse(answer.body);
  const auto says = [&](std::string_view name) {
    const auto members = body->root().members();
    return std::any_of(members.begin(), members.end(),
                       [&](const auto& member) { return member.name == name; });
  };
  if (body != nullptr && (says("errorType") || says("errorMessage"))) return "Unhandled";
  return std::nullopt;
}

Outcome judge(const Expected<outbound::InvocationAnswer, outbound::InvocationFailure>& answer,
              std::span<const Record> batch, bool reports_failures) {
  Outcome outcome;
  if (!answer) {
    outcome.kind = answer.error().kind == outbound::InvocationFailure::Kind::stopped ? Outcome::Kind::stopped
                                                                                     : Outcome::Kind::failure;
    outcome.function_error = "Unhandled";
    return outcome;
  }
  outcome.status = answer->status;
  outcome.executed_version = answer->executed_version;
  if (auto error = function_error(*answer)) {
    outcome.kind = Outcome::Kind::failure;
    outcome.function_error = *std::move(error);
    return outcome;
  }
  const auto body = json::parse(answer->body);
  if (body == nullptr) return outcome;
  if (const json::Value* state = body->root().member("state")) {
    outcome.state.clear();
    json::Writer out(outcome.state);
    out.value(*state);
  }
  if (!reports_failures || batch.empty()) return outcome;
  outcome.first_failed = first_failed(body->root(), batch);
  if (outcome.first_failed < batch.size()) outcome.kind = Outcome::Kind::partial;
  return outcome;
}

}  // namespace mayfly::compat::triggers
