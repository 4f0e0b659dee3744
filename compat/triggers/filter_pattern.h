// Which records an event source mapping lets through: EventBridge's patterns, as Lambda takes them.
//
//   auto pattern = FilterPattern::parse(R"({"dynamodb":{"Keys":{"id":{"S":[{"prefix":"c"}]}}}})");
//   if (pattern && pattern->matches(record)) deliver(record);
//
//   pattern := { name: field | pattern, "$or": [pattern, pattern, …], … }    all of its members must match
//   field   := [matcher, …]                                                 any of them
//   matcher := "text" | 42 | true | false | null
//            | {"prefix": text} | {"suffix": text}       text := "x" | {"equals-ignore-case": "x"}
//            | {"equals-ignore-case": "x"}
//            | {"anything-but": "x" | 42 | ["x", …] | [42, …]
//                                | {"prefix" | "suffix" | "equals-ignore-case": "x" | ["x", …]}}
//            | {"numeric": ["=" | "<" | "<=" | ">" | ">=", 5]} | {"numeric": [">" | ">=", 0, "<" | "<=", 5]}
//            | {"exists": true | false}
//            | {"cidr": "10.0.0.0/24"}
//
// A field looks at leaves: scalars, and the scalars in arrays. `exists: false` matches where the record has
// no leaf, so also where it has an object. Arrays of objects match if one of their objects matches the whole
// pattern for them. A DynamoDB number is a JSON string: `numeric` never matches it. Names with dots are
// names, not paths. EventBridge's `wildcard` is not among the operators that Lambda's documentation lists,
// and is refused.
//
// Each part of the pattern looks at each part of the record once at most: what is said of the whole record,
// as by `exists: false`, is found out once and remembered.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

#include "compat/wire/json.h"

namespace mayfly::compat::triggers {

// What matching has looked at, in members and values. It ends in between if it is asked to stop; what it says
// then means nothing.
class FilterWork {
 public:
  static constexpr std::uint64_t steps_between_looks = 4096;

  explicit FilterWork(std::stop_token stop = {}) : stop_(std::move(stop)) {}

  bool step(std::uint64_t count = 1);  // false: stop
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  const std::stop_token stop_;
  std::uint64_t steps_ = 0, looked_at_ = 0;
  bool stopped_ = false;
};

class FilterPattern {
 public:
  // Nothing: no pattern.
  static std::optional<FilterPattern> parse(std::string_view text);

  [[nodiscard]] bool matches(const json::Value& record, FilterWork& work) const;

  struct Object;  // filter_pattern.cc

 private:
  explicit FilterPattern(std::shared_ptr<const Object> root) : root_(std::move(root)) {}
  std::shared_ptr<const Object> root_;
};

}  // namespace mayfly::compat::triggers
