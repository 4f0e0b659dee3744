// The record filters of event source mappings: EventBridge's patterns, as Lambda accepts them.
//
//   auto pattern = FilterPattern::parse(R"({"dynamodb":{"Keys":{"id":{"S":[{"prefix":"c"}]}}}})");
//   if (pattern && pattern->matches(record)) deliver(record);
//
//   pattern := { name: field | pattern, "$or": [pattern, pattern, …], … }    all of its members must match
//   field   := [matcher, …]                                                 at least one must match
//   matcher := "text" | 42 | true | false | null
//            | {"prefix": text} | {"suffix": text}       text := "x" | {"equals-ignore-case": "x"}
//            | {"equals-ignore-case": "x"}
//            | {"anything-but": "x" | 42 | ["x", …] | [42, …]
//                                | {"prefix" | "suffix" | "equals-ignore-case": "x" | ["x", …]}}
//            | {"numeric": ["=" | "<" | "<=" | ">" | ">=", 5]} | {"numeric": [">" | ">=", 0, "<" | "<=", 5]}
//            | {"exists": true | false}
//            | {"cidr": "10.0.0.0/24"}
//
// A field is matched against leaves: scalars, and the scalars in arrays. `exists: false` matches if the
// record has no leaf in that position, including when it has an object there. An array of objects matches if
// one of its objects matches the whole pattern for the array. A DynamoDB number is a JSON string, so
// `numeric` never matches it. Names with dots are names, not paths. EventBridge's `wildcard` is rejected,
// because Lambda's documentation does not list it among the operators.
//
// Matching compares each part of the pattern with each part of the record at most once: a result that
// concerns the whole record, such as that of `exists: false`, is computed once and cached.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

#include "compat/json/json.h"

namespace mayfly::compat::triggers {

// Counts the members and values that matching has visited, and stops the matching when `stop` is requested.
// After a stop, the result of the matching is meaningless.
class FilterWork {
 public:
  static constexpr std::uint64_t steps_between_looks = 4096;

  explicit FilterWork(std::stop_token stop = {}) : stop_(std::move(stop)) {}

  bool step(std::uint64_t count = 1);  // false: matching must stop
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  const std::stop_token stop_;
  std::uint64_t steps_ = 0, looked_at_ = 0;
  bool stopped_ = false;
};

class FilterPattern {
 public:
  // Returns nullopt if the string is not a valid pattern.
  static std::optional<FilterPattern> parse(std::string_view text);

  [[nodiscard]] bool matches(const json::Value& record, FilterWork& work) const;

  struct Object;  // defined in filter_pattern.cc

 private:
  explicit FilterPattern(std::shared_ptr<const Object> root) : root_(std::move(root)) {}
  std::shared_ptr<const Object> root_;
};

}  // namespace mayfly::compat::triggers
