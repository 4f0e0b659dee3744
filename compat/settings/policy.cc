#include "compat/settings/policy.h"

#include <algorithm>
#include <set>
#include <vector>

#include "compat/json/json.h"
#include "engine/values/account_id.h"

namespace mayfly::compat {
namespace {

// json_tree.h is meant for JSON that people write, such as policies. However, policies are parsed with the
// parser of json.h, because the canonical form of a policy keeps numbers in conditions as written (1.50, not
// 1.5) and keeps repeated members.
using json::Value;
using Kind = Value::Kind;

Unexpected<Error> invalid_policy(const std::string& what) {
  return error::validation("One or more parameter values were invalid: Invalid policy document: " + what);
}

// Returns the error for a parser that stopped at `offset`. Everything before the offset is valid. AWS counts
// lines and columns from 1.
Unexpected<Error> syntax_error(std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto line_start = before.rfind('\n');
  const auto column = 1 + offset - (line_start == std::string_view::npos ? 0 : line_start + 1);
  return invalid_policy("Syntax error at position (" + std::to_string(line) + "," + std::to_string(column) +
                        ")");
}

// Returns a string or a list of strings as a list.
std::vector<std::string> texts_of(const Value& value) {
  std::vector<std::string> texts;
  if (value.is(Kind::string)) texts.emplace_back(value.string());
  for (const Value& each : value.items()) texts.emplace_back(each.string());
  return texts;
}

void write_texts(json::Writer& out, const std::vector<std::string>& texts) {
  if (texts.size() == 1) return out.string(texts[0]);
  out.begin_array();
  for (const auto& each : texts) out.string(each);
  out.end_array();
}

void write_principal(json::Writer& out, const Value& principal) {
  if (!principal.is(Kind::object)) return out.value(principal);
  out.begin_object();
  for (const json::Member& kind : principal.members()) {
    std::vector<std::string> texts;
    for (auto& each : texts_of(kind.value)) {
      auto text = kind.name == "AWS" && engine::is_account_id(each) ? "arn:aws:iam::" + each + ":root"
                                                                    : std::move(each);
      if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
    }
    out.key(kind.name);
    write_texts(out, texts);
  }
  out.end_object();
}

bool is_everybody(const Value& principal) {
  const Value* accounts = principal.is(Kind::object) ? principal.member("AWS") : &principal;
  if (accounts == nullptr) return false;
  const auto texts = texts_of(*accounts);
  return std::find(texts.begin(), texts.end(), "*") != texts.end();
}

bool is_allow(const Value& effect) {
  const auto text = effect.string();
  return text == "Allow" || text == "allow";
}

// Returns the member `name` or, if it does not exist, the member `other`. Returns nullptr if neither member
// exists.
const Value* either(const Value& statement, std::string_view name, std::string_view other) {
  const Value* value = statement.member(name);
  return value != nullptr ? value : statement.member(other);
}

Result<void> check_statement(std::string_view text, const Value& statement) {
  if (!statement.is(Kind::object)) return syntax_error(text, text.size());
  const Value* effect = statement.member("Effect");
  if (effect == nullptr) return invalid_policy("Missing required field Effect");
  if (!is_allow(*effect) && effect->string() != "Deny" && effect->string() != "deny") {
    return syntax_error(text, text.size());
  }
  const Value* principal = either(statement, "Principal", "NotPrincipal");
  if (principal == nullptr) return invalid_policy("Missing required field Principal");
  if (either(statement, "Action", "NotAction") == nullptr)
    return invalid_policy("Missing required field Action");
  if (either(statement, "Resource", "NotResource") == nullptr)
    return invalid_policy("Missing required field Resource");
  if (!principal->is(Kind::object) && principal->string() != "*") {
    return syntax_error(text, std::min(text.size(), text.find(principal->string())));
  }
  if (is_allow(*effect) && statement.member("Principal") != nullptr && is_everybody(*principal) &&
      statement.member("Condition") == nullptr) {
    return error::validation(
        "Resource-based policy grants unbounded access in one or more elements. Please revise the policy to "
        "ensure "
        "least-privilege form of access");
  }
  return {};
}

void write_statement(json::Writer& out, const Value& statement) {
  out.begin_object();
  if (const Value* sid = statement.member("Sid")) {
    out.key("Sid");
    out.string(sid->string());
  }
  out.key("Effect");
  out.string(is_allow(*statement.member("Effect")) ? "Allow" : "Deny");
  for (const char* name : {"Principal", "NotPrincipal"}) {
    if (const Value* value = statement.member(name)) {
      out.key(name);
      write_principal(out, *value);
    }
  }
  for (const char* name : {"Action", "NotAction", "Resource", "NotResource"}) {
    if (const Value* value = statement.member(name)) {
      out.key(name);
      write_texts(out, texts_of(*value));
    }
  }
  if (const Value* condition = statement.member("Condition")) {
    out.key("Condition");
    out.value(*condition);
  }
  out.end_object();
}

}  // namespace

Result<std::string> read_policy(std::string_view text) {
  if (text.size() > policy_bytes_max) {
    return error::validation(
        "One or more parameter values were invalid: Maximum policy size of 20480 bytes exceeded");
  }
  const auto document = json::parse(text);
  if (document != nullptr && document->root().is(Kind::null)) {
    return invalid_policy("This text appears not to be a policy");
  }
  if (document == nullptr || !document->root().is(Kind::object))
    return invalid_policy("This policy contains invalid Json");
  const Value& policy = document->root();
  const Value* statement = policy.member("Statement");
  if (statement == nullptr) return syntax_error(text, text.size());
  const std::span<const Value> statements =
      statement->is(Kind::array) ? statement->items() : std::span<const Value>(statement, 1);
  if (statements.empty()) return invalid_policy("Could not parse the policy: Statement is empty!");
  std::set<std::string_view> sids;
  for (const Value& each : statements) {
    CHECK_OK(check_statement(text, each));
    const Value* sid = each.member("Sid");
    if (sid != nullptr && !sids.insert(sid->string()).second) {
      return invalid_policy("The Statement Ids in the policy are not unique");
    }
  }
  std::string canonical;
  json::Writer out(canonical);
  out.begin_object();
  out.key("Version");
  const Value* version = policy.member("Version");
  out.string(version != nullptr ? version->string() : "2008-10-17");
  if (const Value* id = policy.member("Id")) {
    out.key("Id");
    out.string(id->string());
  }
  out.key("Statement");
  out.begin_array();
  for (const Value& each : statements) write_statement(out, each);
  out.end_array();
  out.end_object();
  return canonical;
}

}  // namespace mayfly::compat
