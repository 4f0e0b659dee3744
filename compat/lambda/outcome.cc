#include "compat/lambda/outcome.h"

#include <algorithm>
#include <unordered_map>

#include "compat/json/json.h"
#include "compat/wire/shown_text.h"

namespace mayfly::compat::triggers {
namespace {

using Kind = json::Value::Kind;

// Returns the index of the record with which the next attempt begins, or the batch's size if no record
// failed.
std::size_t first_failed(const json::Value& body, std::span<const Record> batch) {
  const json::Value* failures = body.member("batchItemFailures");
  if (failures == nullptr) return batch.size();
  if (!failures->is(Kind::array)) return 0;
  // The map keeps the search linear: a function can name 100,000 records for a batch of 10,000.
  std::unordered_map<std::string_view, std::size_t> places;
  places.reserve(batch.size());
  for (std::size_t place = 0; place < batch.size(); ++place) places.emplace(batch[place].number, place);
  std::size_t first = batch.size();
  for (const json::Value& failure : failures->items()) {
    const json::Value* identifier = failure.member("itemIdentifier");
    if (identifier == nullptr) return 0;
    const auto record = places.find(identifier->string());
    if (record == places.end()) return 0;
    first = std::min(first, record->second);
  }
  return first;
}

void read_error(const std::string& body, Outcome& outcome) {
  const auto document = json::parse(body);
  if (document == nullptr) return;
  if (const json::Value* type = document->root().member("errorType"))
    outcome.error_type = shown_text(type->string(), error_type_bytes_max, "");
  if (const json::Value* message = document->root().member("errorMessage"))
    outcome.error_message = shown_text(message->string(), error_message_bytes_max, "\n\t");
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
    outcome.error_message = shown_text(answer.error().sentence, error_message_bytes_max, "");
    return outcome;
  }
  outcome.status = answer->status;
  outcome.executed_version = answer->executed_version;
  if (auto error = function_error(*answer)) {
    outcome.kind = Outcome::Kind::failure;
    outcome.function_error = *std::move(error);
    read_error(answer->body, outcome);
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
  if (outcome.first_failed < batch.size()) {
    outcome.kind = Outcome::Kind::partial;
    outcome.error_message = "The function reported batchItemFailures.";
  }
  return outcome;
}

}  // namespace mayfly::compat::triggers
