// The encoding of a number in a key. Encoded numbers sort in numeric order:
//
//   zero     := 80
//   positive := c0 magnitude pair+ 00      magnitude: the power of ten of the leading digit, plus 130
//   negative := 40 ~magnitude ~pair+ ff    pair: two digits of the significand, from the left, plus 1;
//                                          a single last digit is padded with 0
//
//   -314 = 40 7b df d6 ff     0 = 80     5 = c0 82 33 00     50 = c0 83 33 00     314 = c0 84 20 29 00
//
// If one number's pairs are the beginning of another's, the number with more pairs has the larger absolute
// value. The terminator ensures this order: it is less than every pair or, if the number is negative, greater
// than every pair.
//
// The hash is AWS's: it is computed from the text "Outliers" followed by each partition value. Strings and
// binaries are hashed as they are, and numbers are hashed in base 100 (append_hashed_number below). So a scan
// returns items in the same order as on AWS.
#include "engine/values/key_codec.h"

#include <boost/uuid/detail/md5.hpp>

#include "engine/base/byte_order.h"
#include "engine/base/check.h"

namespace mayfly::engine {
namespace {

constexpr std::string_view hash_salt = "Outliers";

void append_number(std::string& out, const Number& number) {
  if (number.is_zero()) {
    out += '\x80';
    return;
  }
  char digits[Number::digits_max + 1];
  int count = number.write_digits(digits);
  const int magnitude = number.exponent() + count - 1;
  if (count % 2 != 0) digits[count++] = '0';

  char bytes[3 + Number::digits_max / 2];
  int size = 0;
  const char flip = number.negative() ? '\xff' : '\0';
  bytes[size++] = number.negative() ? '\x40' : '\xc0';
  bytes[size++] = static_cast<char>(static_cast<char>(magnitude - Number::magnitude_min) ^ flip);
  for (int i = 0; i < count; i += 2) {
    const int pair = (digits[i] - '0') * 10 + (digits[i + 1] - '0');
    bytes[size++] = static_cast<char>((pair + 1) ^ flip);
  }
  bytes[size++] = flip;
  out.append(bytes, size);
}

void append_escaped_bytes(std::string& out, std::string_view bytes) {
  while (true) {
    const std::size_t zero = bytes.find('\0');
    if (zero == std::string_view::npos) break;
    out.append(bytes.substr(0, zero));
    out.append("\x00\xff", 2);
    bytes.remove_prefix(zero + 1);
  }
  out.append(bytes);
}

std::string_view bytes_of(const AttributeValue& scalar) {
  if (const auto* text = scalar.get_if<std::string>()) return *text;
  const auto* binary = scalar.get_if<Binary>();
  MAYFLY_CHECK(binary && "a key's value is S, N or B");
  return binary->bytes;
}

// The bytes that are hashed for a number:
//
//   zero     := 80
//   number   := exponent digit+ [66]     base 100, digits aligned at the point, no trailing zero digit
//   exponent := the base-100 exponent minus 64; all bits are flipped if the number is negative
//   digit    := the digit plus 1; 101 minus the digit if the number is negative
//   66       ends a negative number of fewer than 20 digits
void append_hashed_number(std::string& out, const Number& number) {
  if (number.is_zero()) {
    out += '\x80';
    return;
  }
  char digits[Number::digits_max + 2];
  const int magnitude = number.magnitude();
  const bool odd = magnitude % 2 == 0;  // an odd number of digits before the point, or of zeros after it
  digits[0] = '0';
  int count = number.write_digits(digits + (odd ? 1 : 0)) + (odd ? 1 : 0);
  if (count % 2 != 0) digits[count++] = '0';

  // magnitude + 1 digits precede the point. This number, rounded up to whole pairs of digits, is even, so the
  // division is exact.
  const int exponent = (magnitude + 1 + (odd ? 1 : 0)) / 2 - 64;
  out += static_cast<char>(number.negative() ? ~exponent : exponent);
  for (int i = 0; i < count; i += 2) {
    const int digit = (digits[i] - '0') * 10 + (digits[i + 1] - '0');
    out += static_cast<char>(number.negative() ? 101 - digit : digit + 1);
  }
  if (number.negative() && count / 2 < 20) out += '\x66';
}

// Boost before 1.86 returns the digest as four big-endian words; later versions return its bytes.
[[maybe_unused]] void append_digest(std::string& out, const unsigned int (&words)[4]) {
  char bytes[key_hash_bytes];
  for (std::size_t i = 0; i < key_hash_bytes; ++i)
    bytes[i] = static_cast<char>(words[i / 4] >> (24 - 8 * (i % 4)));
  out.append(bytes, sizeof bytes);
}
[[maybe_unused]] void append_digest(std::string& out, const unsigned char (&bytes)[16]) {
  out.append(reinterpret_cast<const char*>(bytes), key_hash_bytes);
}

// Boost reads the words of whole 64-byte blocks in place, aligned or not, but copies smaller pieces to its
// own buffer. To avoid misaligned reads, this function passes only smaller pieces.
void process(boost::uuids::detail::md5& md5, std::string_view bytes) {
  constexpr std::size_t piece_bytes_max = 63;
  for (; bytes.size() > piece_bytes_max; bytes.remove_prefix(piece_bytes_max))
    md5.process_bytes(bytes.data(), piece_bytes_max);
  md5.process_bytes(bytes.data(), bytes.size());
}

void append_hash(std::string& out, ScalarPointers values) {
  boost::uuids::detail::md5 md5;
  process(md5, hash_salt);
  for (const AttributeValue* value : values) {
    if (const auto* number = value->get_if<Number>()) {
      std::string bytes;
      append_hashed_number(bytes, *number);
      process(md5, bytes);
    } else {
      process(md5, bytes_of(*value));
    }
  }
  boost::uuids::detail::md5::digest_type digest;
  md5.get_digest(digest);
  append_digest(out, digest);
}

}  // namespace

void append_scalar(std::string& out, const AttributeValue& scalar) {
  if (const auto* number = scalar.get_if<Number>()) return append_number(out, *number);
  append_escaped_bytes(out, bytes_of(scalar));
  out.append("\x00\x01", 2);
}

void append_scalar_prefix(std::string& out, const AttributeValue& scalar) {
  append_escaped_bytes(out, bytes_of(scalar));
}

void append_partition(std::string& out, ScalarPointers partition_values) {
  append_hash(out, partition_values);
  for (const AttributeValue* value : partition_values) append_scalar(out, *value);
}

void append_key(std::string& out, ScalarPointers partition_values, ScalarPointers sort_values) {
  append_partition(out, partition_values);
  for (const AttributeValue* value : sort_values) append_scalar(out, *value);
}

std::uint64_t partition_hash(std::string_view encoded_key) {
  MAYFLY_CHECK(encoded_key.size() >= key_hash_bytes);
  return read_big_endian<std::uint64_t>(encoded_key);
}

std::string prefix_end(std::string_view prefix) {
  const std::size_t last = prefix.find_last_not_of('\xff');
  if (last == std::string_view::npos) return {};
  std::string end(prefix.substr(0, last + 1));
  end.back() = static_cast<char>(static_cast<std::uint8_t>(end.back()) + 1);
  return end;
}

}  // namespace mayfly::engine
