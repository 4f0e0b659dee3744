// Base64 for binary values. Like DynamoDB, accepts only canonical base64 with padding.
//
//   decode_base64("YQ==") == "a"     decode_base64("YQ") and decode_base64("YR==") are nullopt
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace mayfly::compat {

// Returns nullopt unless `text` is exactly what append_base64 would write.
std::optional<std::string> decode_base64(std::string_view text);
void append_base64(std::string& out, std::string_view bytes);

constexpr std::size_t base64_bytes(std::size_t bytes) { return (bytes + 2) / 3 * 4; }
// Writes base64_bytes(bytes.size()) characters to `to` and returns the end of what it wrote.
char* write_base64(char* to, std::string_view bytes);

}  // namespace mayfly::compat
