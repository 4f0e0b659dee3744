#include "compat/lambda/function_name.h"

#include <algorithm>
#include <vector>

#include "engine/base/text.h"
#include "engine/values/account_id.h"

namespace mayfly::compat::triggers {
namespace {

constexpr std::size_t name_bytes_max = 256;

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return engine::is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
  });
}
// Whether the string looks like the name of an AWS region, such as "us-east-1" or "us-gov-west-1".
bool is_region(std::string_view text) {
  return text.size() > 8 && text[2] == '-' && text[text.size() - 2] == '-' && engine::is_digit(text.back()) &&
         is_name(text);
}

}  // namespace

std::optional<FunctionName> FunctionName::parse(std::string_view text, const engine::Scope& scope) {
  if (text.size() > name_bytes_max) return std::nullopt;
  std::vector<std::string_view> parts;
  for (std::string_view rest = text;;) {
    const auto colon = std::min(rest.find(':'), rest.size());
    parts.push_back(rest.substr(0, colon));
    if (colon == rest.size()) break;
    rest.remove_prefix(colon + 1);
  }
  FunctionName function{scope.region, scope.account, {}, {}};
  auto part = parts.begin();
  if (parts.size() > 3 && *part == "arn") {
    if (!parts[1].starts_with("aws") || parts[2] != "lambda") return std::nullopt;
    part += 3;
  }
  if (part != parts.end() && parts.end() - part > 1 && is_region(*part)) function.region = *part++;
  if (part != parts.end() && parts.end() - part > 1 && engine::is_account_id(*part))
    function.account = *part++;
  if (part != parts.end() && parts.end() - part > 1 && *part == "function") ++part;
  if (part == parts.end() || !is_name(*part)) return std::nullopt;
  function.name = *part++;
  if (part != parts.end()) {
    if (*part != "$LATEST" && !is_name(*part)) return std::nullopt;
    function.qualifier = *part++;
  }
  if (part != parts.end()) return std::nullopt;
  // The limit applies to the whole ARN: a name whose ARN would be rejected is invalid.
  if (function.arn().size() > name_bytes_max) return std::nullopt;
  return function;
}

std::string FunctionName::arn() const {
  std::string arn = "arn:aws:lambda:" + region + ":" + account + ":function:" + name;
  return qualifier.empty() ? arn : arn + ":" + qualifier;
}

}  // namespace mayfly::compat::triggers
