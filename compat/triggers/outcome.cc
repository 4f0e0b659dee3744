#include "compat/triggers/outcome.h"

#include <algorithm>

#include "compat/wire/json.h"
#include "compat/wire/utf8.h"

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

// A text that a function sent, made safe for logs and terminals. Requires: `text` is UTF-8.
std::string shown_text(std::string_view text, std::size_t bytes_max, std::string_view allowed_controls) {
  std::string shown;
  for (text = whole_characters(text, bytes_max); !text.empty();) {
    const std::size_t bytes = utf8_character_bytes(text);
    if (bytes == 0) break;
    const auto first = static_cast<unsigned char>(text[0]);
    const bool c1 = first == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0;
    const bool control = first < 0x20 || first == 0x7f || c1;
    if (control && allowed_controls.find(text[0]) == std::string_view::npos) {
      shown += '?';
    } else {
      shown += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return shown;
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
