#include "compat/buckets/bucket.h"

#include <algorithm>

#include "compat/json/utf8.h"

namespace mayfly::compat::buckets {

std::optional<Failure> problem_of_key(std::string_view key) {
  if (key.empty()) return invalid_argument("A key must not be empty");
  if (key.size() > key_bytes_max) return key_too_long();
  if (!is_utf8(key) || key.find('\0') != key.npos)
    return invalid_argument("A key must be UTF-8 without NUL bytes");
  for (std::size_t start = 0; start <= key.size();) {
    const std::size_t end = std::min(key.find('/', start), key.size());
    const std::string_view part = key.substr(start, end - start);
    if (part == "." || part == "..") return invalid_argument("A key must not contain the parts . and ..");
    start = end + 1;
  }
  return std::nullopt;
}

}  // namespace mayfly::compat::buckets
