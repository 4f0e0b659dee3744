// Shapes declare the members of requests. Checks report type errors first, then constraint violations, in
// AWS's order and wording.
//
// Each operation declares its request as constexpr data next to its code, with every member of the public API
// model, supported or not:
//
//   constexpr Member members[] = {
//       {"TableName", &shapes::table_name, required},
//       {"Limit", &shapes::positive_integer},
//   };
//   constexpr Shape shape = structure("ScanInput", members);
//
// check_types returns SerializationException, as the service's JSON reader does. check_constraints returns "N
// validation errors detected: Value '…' at '…' failed to satisfy constraint: …; …" (at most ten), in the
// wording of the request's frame (frame.h). A request of a newer frame that lacks a required member is handed
// over, and then all its errors have the wording of Frame::handed_over.
//
// After both checks have passed:
// - Every declared member has its type, or is absent or null (json::Value::member does not distinguish the
//   two).
// - No list has a null element and no map has a null value, except lists and maps of attribute values, which
//   attribute_value_json.h checks.
//
// Undeclared members are ignored, as on AWS. A member that AWS has and Mayfly does not support is therefore
// declared as `unsupported`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "compat/json/json.h"
#include "compat/wire/error.h"
#include "compat/wire/frame.h"

namespace mayfly::compat {

struct Shape;

// If the member is missing:
// - `required`: one of the constraint errors, "Value null at 'key' failed to satisfy constraint: Member must
//   not be null".
// - `required_first`: operations on tables check it before everything else, "The parameter 'TableName' is
//   required but was not present in the request".
// - `required_alone`: an error unless one of the structure's optional members is present.
//
// `unsupported`: AWS has the member and Mayfly does not. A request with this member is rejected with an error
// that names the member, after the rest of the request has been checked.
enum class Presence : std::uint8_t { optional, required, required_first, required_alone, unsupported };
inline constexpr Presence required = Presence::required;
inline constexpr Presence required_first = Presence::required_first;
inline constexpr Presence required_alone = Presence::required_alone;
inline constexpr Presence unsupported = Presence::unsupported;

struct Member {
  std::string_view name;
  const Shape* shape;
  Presence presence = Presence::optional;
  // The new front end stops at this member of a request: if the member has an error that the new front end
  // words itself (a length, a range, one of Shape::unnamed_values), only that error is reported.
  bool stops = false;
};

constexpr Member stopping(Member member) {
  member.stops = true;
  return member;
}

struct Shape {
  enum class Type : std::uint8_t {
    string,
    integer,
    long_integer,
    decimal,
    boolean,
    blob,
    timestamp,
    list,
    map,
    structure,
    attribute_value
  };
  Type type = Type::string;
  std::string_view java_name{};                // of a structure, without its package: "KeySchemaElement"
  std::span<const Member> members{};           // of a structure, in the order in which AWS checks them
  const Shape* element = nullptr;              // element of a list, value of a map
  const Shape* key = nullptr;                  // key of a map; constraints only
  std::optional<std::int64_t> min{}, max{};    // length of strings, lists and maps; value of numbers
  std::string_view pattern{};                  // one of the patterns below
  std::span<const std::string_view> values{};  // of an enum, in the order in which AWS prints them
  bool table_name = false;                     // an ARN is exempt from the length and the pattern
  bool length_first = false;                   // "TableName must be at least 3 characters long and …"
  bool keys_yield = false;                     // of a map: an invalid enum value hides errors in the keys
  // The values of an enum as operations that have moved to the new front end print them, without naming the
  // member: "[ALL, OR]".
  std::string_view unnamed_values{};
  // For a structure: the names of its members in the order in which Java prints them, including members that
  // the API model lacks. Empty: the order of `members`.
  std::span<const std::string_view> printed{};
};

inline constexpr std::string_view name_pattern = "[a-zA-Z0-9_.-]+";
inline constexpr std::string_view print_pattern = "\\p{Print}+";  // ASCII's printable characters
inline constexpr std::string_view client_token_pattern = "^[^\\$]+$";
inline constexpr std::string_view bucket_name_pattern = "^[a-z0-9A-Z]+[\\.\\-\\w]*[a-z0-9A-Z]+$";
inline constexpr std::string_view account_pattern = "[0-9]{12}";
inline constexpr std::string_view csv_delimiter_pattern = "[,;:|\\t ]";
inline constexpr std::string_view csv_header_pattern = "[\\x20-\\x21\\x23-\\x2B\\x2D-\\x7E]*";
inline constexpr std::string_view key_arn_pattern = "(arn:(aws[a-zA-Z-]*)?:[a-z0-9-.]+:.*)|()";
inline constexpr std::string_view page_token_pattern = "([0-9a-f]{16})+";
inline constexpr std::string_view text_pattern =  // no control characters except CR, LF and tab
    "[\\u0020-\\uD7FF\\uE000-\\uFFFD\\uD800\\uDC00-\\uDBFF\\uDFFF\\r\\n\\t]*";

constexpr Shape structure(std::string_view java_name, std::span<const Member> members) {
  return {.type = Shape::Type::structure, .java_name = java_name, .members = members};
}
constexpr Shape printed_as(Shape structure, std::span<const std::string_view> printed) {
  structure.printed = printed;
  return structure;
}
constexpr Shape list_of(const Shape& element, std::optional<std::int64_t> min = {},
                        std::optional<std::int64_t> max = {}) {
  return {.type = Shape::Type::list, .element = &element, .min = min, .max = max};
}
constexpr Shape map_of(const Shape& element, const Shape* key = nullptr, std::optional<std::int64_t> min = {},
                       std::optional<std::int64_t> max = {}) {
  return {.type = Shape::Type::map, .element = &element, .key = key, .min = min, .max = max};
}
constexpr Shape string_shape(std::optional<std::int64_t> min = {}, std::optional<std::int64_t> max = {},
                             std::string_view pattern = {}) {
  return {.type = Shape::Type::string, .min = min, .max = max, .pattern = pattern};
}
constexpr Shape enum_shape(std::span<const std::string_view> values, std::string_view unnamed_values = {}) {
  return {.type = Shape::Type::string, .values = values, .unnamed_values = unnamed_values};
}
constexpr Shape integer_shape(std::optional<std::int64_t> min = {}, std::optional<std::int64_t> max = {}) {
  return {.type = Shape::Type::integer, .min = min, .max = max};
}
constexpr Shape long_shape(std::optional<std::int64_t> min = {}, std::optional<std::int64_t> max = {}) {
  return {.type = Shape::Type::long_integer, .min = min, .max = max};
}

Result<void> check_types(const Shape& shape, const json::Value& request);
Result<void> check_constraints(const Shape& shape, const json::Value& request, Frame frame = Frame::older);

// These functions return the meaning of a value that passed the checks: the integral part of a number, or a
// boolean, which AWS also reads from a string ("true", "1", "yes", ignoring case).
std::int64_t integer_of(const json::Value& checked);
bool boolean_of(const json::Value& checked);

// These functions do the same for a member of an object. They return nullopt if the member is absent or null.
std::optional<std::int64_t> integer_member(const json::Value& object, std::string_view name);
std::optional<bool> boolean_member(const json::Value& object, std::string_view name);
std::optional<std::string_view> string_member(const json::Value& object, std::string_view name);

}  // namespace mayfly::compat
