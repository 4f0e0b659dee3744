// Which records an event source mapping lets through: EventBridge's patterns, as Lambda takes them.
//
//   auto pattern = FilterPattern::parse(R"({"eventName":["REMOVE"],"dynamodb":{"Keys":{"id":{"S":[{"prefix":"c"}]}}}})");
//   if (pattern && pattern->matches(record)) deliver(record);
//
//   pattern := { name: field | pattern, "$or": [pattern, pattern, …], … }        all of its members must match
//   field   := [matcher, …]                                                     any of them
//   matcher := "text" | 42 | true | false | null
//            | {"prefix": text} | {"suffix": text}       text := "x" | {"equals-ignore-case": "x"}
//            | {"equals-ignore-case": "x"}
//            | {"anything-but": "x" | 42 | ["x", …] | [42, …] | {"prefix" | "suffix" | "equals-ignore-case": "x" | ["x", …]}}
//            | {"numeric": ["=" | "<" | "<=" | ">" | ">=", 5]} | {"numeric": [">" | ">=", 0, "<" | "<=", 5]}
//            | {"exists": true | false}
//            | {"cidr": "10.0.0.0/24"}
//
// A field looks at leaves: scalars, and the scalars in arrays. `exists: false` matches where the record has no
// leaf, so also where it has an object. Arrays of objects match if one of their objects matches the whole pattern
// for them. A DynamoDB number is a JSON string: `numeric` never matches it. Names with dots are names, not paths.
// EventBridge's `wildcard` is not among the operators that Lambda's documentation lists, and is refused.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "compat/json.h"

namespace mayfly::compat::triggers {

class FilterPattern {
 public:
  // Nothing: no pattern.
  static std::optional<FilterPattern> parse(std::string_view text);

  [[nodiscard]] bool matches(const json::Value& record) const;

  struct Object;  // filter_pattern.cc

 private:
  explicit FilterPattern(std::shared_ptr<const Object> root) : root_(std::move(root)) {}
  std::shared_ptr<const Object> root_;
};

}  // namespace mayfly::compat::triggers
