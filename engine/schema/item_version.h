// Encodes an old version of an item, that is, the item's state before a commit. It is the value of a key of
// kind 'O' (history.h).
//
//   version := at:i64le 0x00             the item did not exist
//            | at:i64le 0x01 item        the item had this value, encoded by item_codec
//
// `at` is the time of the commit, by the account's clock.
#pragma once

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/byte_order.h"
#include "engine/base/clock.h"

namespace mayfly::engine {

inline constexpr std::size_t version_head_bytes = sizeof(Instant) + 1;

// Returns the bytes that precede the item.
inline std::array<char, version_head_bytes> version_head(Instant at, bool was_there) {
  std::array<char, version_head_bytes> head{};
  std::memcpy(head.data(), &at, sizeof at);
  head.back() = was_there ? '\1' : '\0';
  return head;
}

inline bool is_version(std::string_view bytes) {
  return bytes.size() >= version_head_bytes &&
         (bytes[sizeof(Instant)] == '\1'
              ? bytes.size() > version_head_bytes
              : bytes[sizeof(Instant)] == '\0' && bytes.size() == version_head_bytes);
}
// version_at() and version_item() require is_version(bytes).
inline Instant version_at(std::string_view bytes) { return read_little_endian<Instant>(bytes); }
inline std::optional<std::string_view> version_item(std::string_view bytes) {
  return bytes[sizeof(Instant)] == '\1' ? std::optional(bytes.substr(version_head_bytes)) : std::nullopt;
}

}  // namespace mayfly::engine
