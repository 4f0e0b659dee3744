// Integers as bytes. Big-endian bytes sort in numeric order if the integers are not negative.
//
//   append_big_endian(key, std::uint32_t{258})      00 00 01 02
//   read_big_endian<std::uint32_t>(key) == 258
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace mayfly::engine {

template <class Integer>
void append_big_endian(std::string& out, Integer value) {
  char bytes[sizeof value];
  for (std::size_t i = sizeof value; i-- > 0; value = static_cast<Integer>(value >> (8 * (sizeof value > 1))))
    bytes[i] = static_cast<char>(value & 0xff);
  out.append(bytes, sizeof bytes);
}

template <class Integer>
Integer read_big_endian(std::string_view bytes) {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i)
    value = static_cast<Integer>((value << (8 * (sizeof value > 1))) | static_cast<unsigned char>(bytes[i]));
  return value;
}

template <class Integer>
void append_little_endian(std::string& out, Integer value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);  // all supported hosts are little-endian
  out.append(bytes, sizeof bytes);
}

template <class Integer>
Integer read_little_endian(std::string_view bytes) {
  Integer value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace mayfly::engine
