#include "engine/schema/readable_key.h"

#include <cstdint>
#include <optional>

#include "engine/base/hex.h"
#include "engine/values/key_codec.h"
#include "engine/values/number.h"

namespace mayfly::engine {
namespace {

// Decodes a string or binary value that append_scalar has encoded, and removes it from the front of `rest`.
// Returns nullopt if the value is malformed.
std::optional<std::string> take_text(std::string_view& rest) {
  std::string text;
  for (std::size_t at = 0; at + 1 < rest.size(); ++at) {
    if (rest[at] != '\0') {
      text += rest[at];
      continue;
    }
    const char next = rest[++at];
    if (next == '\x01') {
      rest.remove_prefix(at + 1);
      return text;
    }
    if (next != '\xff') return std::nullopt;
    text += '\0';
  }
  return std::nullopt;
}

// Decodes a number and removes it from the front of `rest`. Returns nullopt if the number is malformed.
std::optional<std::string> take_number(std::string_view& rest) {
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(rest[at]); };
  if (rest.empty()) return std::nullopt;
  if (byte(0) == 0x80) {
    rest.remove_prefix(1);
    return "0";
  }
  if (rest.size() < 3 || (byte(0) != 0xc0 && byte(0) != 0x40)) return std::nullopt;
  const bool negative = byte(0) == 0x40;
  const std::uint8_t flip = negative ? 0xff : 0;
  const int magnitude = (byte(1) ^ flip) + Number::magnitude_min;
  Number::Wide significand = 0;
  int digits = 0;
  std::size_t at = 2;
  for (; at < rest.size() && byte(at) != flip; ++at) {
    const int pair = (byte(at) ^ flip) - 1;
    digits += 2;
    if (pair > 99 || digits > Number::digits_max) return std::nullopt;
    significand = significand * 100 + static_cast<unsigned>(pair);
  }
  if (at == rest.size()) return std::nullopt;
  const auto number = Number::from_parts(negative, significand, magnitude - digits + 1);
  if (!number) return std::nullopt;
  rest.remove_prefix(at + 1);
  return number->to_string();
}

// Decodes the attributes, removes them from the front of `rest` and appends them to `out` as text. Returns
// false if an attribute is malformed.
bool take(std::span<const KeyAttribute> attributes, std::string_view& rest, std::string& out) {
  for (const KeyAttribute& attribute : attributes) {
    const bool is_number = attribute.type == ScalarType::number;
    std::optional<std::string> value = is_number ? take_number(rest) : take_text(rest);
    if (!value) return false;
    if (!out.empty()) out += ", ";
    out += attribute.name + "=";
    if (is_number) out += *value;
    if (attribute.type == ScalarType::string) out += '"' + *value + '"';
    if (attribute.type == ScalarType::binary) out += hexadecimal(*value);
  }
  return true;
}

bool take_hash(std::string_view& rest) {
  if (rest.size() < key_hash_bytes) return false;
  rest.remove_prefix(key_hash_bytes);
  return true;
}

}  // namespace

std::string hexadecimal(std::string_view bytes) { return "0x" + hex(bytes); }

std::string readable_key(const KeySchema& keys, std::string_view encoded) {
  std::string text;
  std::string_view rest = encoded;
  return take_hash(rest) && take(keys.all(), rest, text) && rest.empty() ? text : hexadecimal(encoded);
}

std::string readable_entry(const Table& table, const Index& index, std::string_view encoded) {
  std::string text;
  std::string_view rest = encoded;
  const bool readable = take_hash(rest) && take(index.keys.all(), rest, text) && take_hash(rest) &&
                        take(table.keys.all(), rest, text) && rest.empty();
  return readable ? text : hexadecimal(encoded);
}

}  // namespace mayfly::engine
