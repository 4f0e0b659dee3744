// gzip and deflate, of requests and of answers.
//
// Which answers are compressed, and with what, is DynamoDB's: those of 4096 bytes or more, by the first
// Accept-Encoding header, whose malformed entries it reads in its own way (compression.cc says how).
//
//   choose_encoding("br, gzip;q=0, deflate; q = 0.5") == Encoding::deflate
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace mayfly::http {

inline constexpr std::size_t compressed_answer_bytes_min = 4096;

enum class Encoding : unsigned char { identity, gzip, deflate };

// "gzip"; for Content-Encoding.
std::string_view name_of(Encoding encoding);

// From an Accept-Encoding header's value.
Encoding choose_encoding(std::string_view accept_encoding);

std::string compress(std::string_view bytes, Encoding encoding);

enum class DecompressFailure : unsigned char { malformed, too_large };

// Nothing: it went well, and `out` holds the whole content. gzip may come in several members; anything after
// the content, and content that ends early, is malformed. Never writes more than `bytes_max` (and a little)
// to `out`.
std::optional<DecompressFailure> decompress(std::string_view bytes, Encoding encoding, std::size_t bytes_max,
                                            std::string& out);

}  // namespace mayfly::http
