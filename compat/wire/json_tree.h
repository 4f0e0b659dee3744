// JSON that people read and write by hand, as a tree of nlohmann's: control calls, their answers, settings
// that are kept as documents. Requests of operations and records have json.h, which is quicker and keeps a
// number's text.
//
//   const auto tree = json::parse_tree(R"({"url":"http://127.0.0.1:9000/","timeout_ms":3000})");
//   if (!tree) …                                         // not JSON
//   json::integer_member(*tree, "timeout_ms")            // 3000; nothing: not there, or no whole number
//   json::print(json::Tree{{"id", "7"}})                 // {"id":"7"}
//
// What is JSON is the same for both readers, but for numbers that no double holds (1e400), which are none
// here, and for those with an exponent beyond 32 bits (1e-9999999999), which are none there. Members stay in
// the order in which they were written, and of those with one name the last counts. No function here throws;
// a tree's own functions throw when they are asked for what is not there, so that who holds a client's tree
// asks these, or asks `is_…` first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "engine/expected.h"

namespace mayfly::json {

using Tree = nlohmann::ordered_json;

// What becomes of numbers with a point or an exponent, or with too many digits for 64 bits: a double, or the
// text as it was written (raw), for who only prints it again.
enum class Decimals : std::uint8_t { read, as_written };

// Nothing: not JSON, invalid UTF-8, nested deeper than json.h's depth_max, or more than 2,000,000 values.
std::optional<Tree> parse_tree(std::string_view text, Decimals decimals = Decimals::read);
// The same of a text that a client may make of nothing but values: each takes some 100 bytes of a tree, and
// two of the text. At most so many are read, those among them that hold others.
enum class NoTree : std::uint8_t { no_json, too_many_values };
Expected<Tree, NoTree> parse_tree(std::string_view text, Decimals decimals, std::size_t values_max);

// nullptr: absent, null, or `object` is none.
const Tree* member(const Tree& object, std::string_view name);
std::optional<std::int64_t> integer(const Tree& value);  // nothing: it is no whole number of 64 bits
// The member, where it is of this kind.
std::optional<std::string_view> string_member(const Tree& object, std::string_view name);
std::optional<std::int64_t> integer_member(const Tree& object, std::string_view name);
std::optional<bool> boolean_member(const Tree& object, std::string_view name);
// In time that does not depend on how many members there are. Requires: `object` has none of that name.
void add_member(Tree& object, std::string_view name, Tree value);

// A value that is JSON text already, as the Writer wrote it: an item, a record. The tree holds it as
// nlohmann's binary, which no text has; it is printed as it is.
Tree raw(std::string_view text);
// 1700000000.123, with three digits as DynamoDB's Writer has them; whole ones without a fraction.
Tree seconds(std::int64_t milliseconds);

// The text that json.h's Writer would write: the same escapes, decimals with a point and without an exponent,
// and what is not valid UTF-8 as it is. nlohmann's own dump throws at that, and does not always write the
// fewest digits that say a number (0.001298 as 0.0012979999999999999).
std::string print(const Tree& value);           // all on one line
std::string print_indented(const Tree& value);  // each member and each element on a line of its own
// The first `bytes_max` bytes of print(), without the last character if it does not fit; longer texts end in
// "…". Takes time and memory for `bytes_max` bytes, however large the value is.
std::string print_beginning(const Tree& value, std::size_t bytes_max);

}  // namespace mayfly::json
