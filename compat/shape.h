// Declared members of requests: type errors first, then constraints, in AWS's order and words.
//
// Each operation declares its request as constexpr data beside its code, every member of the public API
// model, supported or not:
//
//   constexpr Member members[] = {
//       {"TableName", table_arn, required},
//       {"Limit", integer(1)},
//   };
//   constexpr Shape shape = structure("com.amazonaws.dynamodb.v20120810.ScanInput", members);
//
// check_types answers SerializationException as the service's JSON reader does; check_constraints answers
// "N validation errors detected: Value '…' at '…' failed to satisfy constraint: …; …" (at most ten).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "compat/error.h"
#include "compat/json.h"

namespace mayfly::compat {

struct Shape;

struct Member {
  std::string_view name;
  const Shape* shape;
  bool required = false;
};

inline constexpr bool required = true;

struct Shape {
  enum class Type : std::uint8_t {
    string, integer, long_integer, decimal, boolean, blob, timestamp, list, map, structure, attribute_value
  };
  Type type = Type::string;
  std::string_view java_name{};              // of a structure, in "Unrecognized collection type class …"
  std::span<const Member> members{};         // of a structure, in AWS's order of checks
  const Shape* element = nullptr;            // of a list; values of a map
  const Shape* key = nullptr;                // of a map
  std::optional<std::int64_t> min{}, max{};  // length of strings, lists, maps, blobs; value of numbers
  std::string_view pattern{};                // "[a-zA-Z0-9_.-]+"
  std::span<const std::string_view> values{};  // an enum's, in the order in which AWS prints them
};

Result<void> check_types(const Shape& shape, const json::Value& request);
Result<void> check_constraints(const Shape& shape, const json::Value& request);

}  // namespace mayfly::compat
