// gzip and deflate for requests and responses.
//
// Compresses the same responses as DynamoDB, with the same encoding: those of 4096 bytes or more, with the
// encoding that the first Accept-Encoding header prefers. DynamoDB reads malformed entries of that header in
// its own way (see compression.cc).
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

// Returns the name for Content-Encoding, such as "gzip".
std::string_view name_of(Encoding encoding);

// Chooses the encoding from the value of an Accept-Encoding header.
Encoding choose_encoding(std::string_view accept_encoding);

std::string compress(std::string_view bytes, Encoding encoding);

enum class DecompressFailure : unsigned char { malformed, too_large };

// Returns nullopt on success; `out` then holds the whole content. gzip content may have several members.
// Trailing bytes after the content, and truncated content, are malformed. Writes at most slightly more than
// `bytes_max` to `out`.
std::optional<DecompressFailure> decompress(std::string_view bytes, Encoding encoding, std::size_t bytes_max,
                                            std::string& out);

}  // namespace mayfly::http
