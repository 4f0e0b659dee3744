// Encodes keys as bytes that sort in DynamoDB's order.
//
//   partition := hash:8 scalar+          hash: first eight bytes of an MD5 over the partition key's values,
//   key       := partition scalar*       so that scans are in hash order, as on AWS
//   scalar    := S: bytes with 00 -> 00 ff, then 00 01      (B likewise)
//                N: described in key_codec.cc
//
// Encoded keys sort by hash, then partition values, then sort values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/values/attribute_value.h"

namespace mayfly::engine {

// The limits for strings and binaries; numbers always fit.
inline constexpr std::size_t partition_key_bytes_max = 2048;
inline constexpr std::size_t sort_key_bytes_max = 1024;

inline constexpr std::size_t key_hash_bytes = 8;

using ScalarPointers = std::span<const AttributeValue* const>;  // each S, N or B

void append_scalar(std::string& out, const AttributeValue& scalar);
// Appends the encoding without its terminator. The encoding of every S or B that begins with `scalar` starts
// with these bytes.
void append_scalar_prefix(std::string& out, const AttributeValue& scalar);
void append_partition(std::string& out, ScalarPointers partition_values);
void append_key(std::string& out, ScalarPointers partition_values, ScalarPointers sort_values);

// The first eight bytes of an encoded key as a number. The segments of a scan divide the range
// of these numbers.
std::uint64_t partition_hash(std::string_view encoded_key);

// The smallest byte string greater than every string that starts with `prefix`; empty if there is none.
std::string prefix_end(std::string_view prefix);

}  // namespace mayfly::engine
