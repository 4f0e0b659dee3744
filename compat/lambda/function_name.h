// Parses function names in all forms that Lambda accepts.
//
//   my-function   my-function:v1   000000000000:function:my-function
//   arn:aws:lambda:us-east-1:000000000000:function:my-function[:v1]
//
//   auto name = FunctionName::parse("my-function:v1", scope);
//   name->arn() == "arn:aws:lambda:us-east-1:000000000000:function:my-function:v1"
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/tables/catalog.h"

namespace mayfly::compat::triggers {

struct FunctionName {
  std::string region, account, name;
  std::string qualifier;  // a version or an alias; empty: not given

  // Takes from `scope` the parts that the string omits. Returns nullopt if the string is not a function name.
  static std::optional<FunctionName> parse(std::string_view text, const engine::Scope& scope);

  [[nodiscard]] std::string arn() const;
  friend bool operator==(const FunctionName&, const FunctionName&) = default;
};

}  // namespace mayfly::compat::triggers
