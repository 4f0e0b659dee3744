#include "cli/anonymize/keyed_hash.h"

#include <cstdint>

#include "engine/base/hex.h"
#include "http/base/sha256.h"

namespace mayfly::transfer {
namespace {

using engine::Number;

constexpr std::size_t stand_in_bytes = 16;
constexpr std::uint64_t whole_end = 1'000'000'000'000'000'000;  // 10^18
constexpr int half_bits = 30;  // 2^60 is the first power of four above whole_end
constexpr std::uint64_t half_mask = (std::uint64_t{1} << half_bits) - 1;
constexpr int rounds = 10;

std::uint64_t number_of(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char c : bytes.substr(0, sizeof number)) number = number << 8 | static_cast<std::uint8_t>(c);
  return number;
}

// Passes a 60-bit value through the Feistel network once.
std::uint64_t permuted_once(const KeyedHash& hash, std::uint64_t value) {
  std::uint64_t left = value >> half_bits, right = value & half_mask;
  for (int round = 0; round < rounds; ++round) {
    const std::string input = std::to_string(round) + " " + std::to_string(right);
    const std::uint64_t mixed = left ^ (number_of(hash.bytes("permutation", input)) & half_mask);
    left = right;
    right = mixed;
  }
  return left << half_bits | right;
}

// Permutes the numbers in [0, 10^18). A result outside this range passes through the network again until it
// is inside.
std::uint64_t permuted(const KeyedHash& hash, std::uint64_t value) {
  do {
    value = permuted_once(hash, value);
  } while (value >= whole_end);
  return value;
}

}  // namespace

std::string KeyedHash::bytes(std::string_view purpose, std::string_view value) const {
  std::string input = "mayfly anonymize 1 ";
  input += purpose;
  input += '\0';
  input += value;
  return http::hmac_sha256(secret_, input);
}

std::string KeyedHash::text(std::string_view value) const {
  return engine::hex(bytes("S", value).substr(0, stand_in_bytes));
}

engine::Binary KeyedHash::binary(const engine::Binary& value) const {
  return {bytes("B", value.bytes).substr(0, stand_in_bytes)};
}

Number KeyedHash::number(const Number& value) const {
  const bool is_short = value.is_zero() || value.magnitude() < 18;
  if (const auto whole = value.floor_scaled(0); whole && value.exponent() >= 0 && is_short) {
    // A negative number n is replaced by -p - 1, where p is the permutation of -n - 1. So no negative number
    // becomes zero.
    if (*whole >= 0)
      return Number(static_cast<std::int64_t>(permuted(*this, static_cast<std::uint64_t>(*whole))));
    return Number(-static_cast<std::int64_t>(permuted(*this, static_cast<std::uint64_t>(-(*whole + 1)))) - 1);
  }
  // Fractions and whole numbers of more than 18 digits become whole numbers of 37 digits that begin with 1,
  // so they differ from the numbers that replace shorter whole numbers.
  const std::string mixed = bytes("N", value.to_string());
  Number::Wide wide = static_cast<Number::Wide>(number_of(mixed)) << 64 | number_of(mixed.substr(8));
  Number::Wide first = 1;
  for (int digit = 0; digit < 36; ++digit) first *= 10;
  return *Number::from_parts(value.negative(), first + wide % first, 0);
}

}  // namespace mayfly::transfer
