// JSON that people read and write by hand, as an nlohmann tree: control calls, their responses, and settings
// that are kept as documents. Requests of operations and records use json.h, which is faster and keeps the
// text of numbers.
//
//   const auto tree = json::parse_tree(R"({"url":"http://127.0.0.1:9000/","timeout_ms":3000})");
//   if (!tree) …                                         // not JSON
//   json::integer_member(*tree, "timeout_ms")            // 3000; nullopt: absent, or not a whole number
//   json::print(json::Tree{{"id", "7"}})                 // {"id":"7"}
//
// Both readers accept the same JSON, with two exceptions: this reader rejects numbers that no double holds
// (1e400), and json.h rejects numbers with an exponent beyond 32 bits (1e-9999999999). Members keep the order
// in which they were written; among members with the same name, the last one counts.
//
// No function here throws. A tree's own functions throw when a member is absent or has another type, so code
// that handles a client's tree uses the functions below or checks `is_…` first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/expected.h"

namespace mayfly::json {

using Tree = nlohmann::ordered_json;

// How to read numbers with a point or an exponent, or with too many digits for 64 bits: as a double, or as
// the text that was written (raw), for callers that only print it again.
enum class Decimals : std::uint8_t { read, as_written };

// Returns nullopt if the text is not JSON, has invalid UTF-8, nests deeper than json.h's depth_max, or has
// more than 2,000,000 values.
std::optional<Tree> parse_tree(std::string_view text, Decimals decimals = Decimals::read);
// Does the same with the caller's own limit on the number of values, containers included. A client can send
// JSON that consists of nothing but values, and a value of two bytes in JSON takes about 100 bytes in a tree.
enum class NoTree : std::uint8_t { no_json, too_many_values };
Expected<Tree, NoTree> parse_tree(std::string_view text, Decimals decimals, std::size_t values_max);

// Returns nullptr if the member is absent or null, or if `object` is not an object.
const Tree* member(const Tree& object, std::string_view name);
std::optional<std::int64_t> integer(const Tree& value);  // nullopt: not a whole number of 64 bits
// Return the member, or nullopt if it is absent or has another type.
std::optional<std::string_view> string_member(const Tree& object, std::string_view name);
std::optional<std::int64_t> integer_member(const Tree& object, std::string_view name);
std::optional<bool> boolean_member(const Tree& object, std::string_view name);
// Adds a member in constant time, regardless of the number of members. Requires: `object` has no member with
// that name.
void add_member(Tree& object, std::string_view name, Tree value);

// Makes a value of JSON text that Writer wrote, such as an item or a record. The tree holds the text as
// nlohmann's binary type, which parsing never produces, and printing copies it unchanged.
Tree raw(std::string_view text);
// Makes a number like 1700000000.123, as json::Writer::seconds does: with three decimal places, or without a
// fraction for whole seconds.
Tree seconds(std::int64_t milliseconds);

// Returns the text that json.h's Writer would write: the same escapes, decimals with a point and without an
// exponent, and invalid UTF-8 unchanged. nlohmann's own dump throws on invalid UTF-8, and does not always
// write the fewest digits that identify a number (0.001298 as 0.0012979999999999999).
std::string print(const Tree& value);           // on one line
std::string print_indented(const Tree& value);  // one line for each member and each element
// Returns the first `bytes_max` bytes of print(), cut at a character boundary, with "…" appended if the text
// is longer. Takes time and memory for `bytes_max` bytes, regardless of the size of the value.
std::string print_beginning(const Tree& value, std::size_t bytes_max);

}  // namespace mayfly::json
