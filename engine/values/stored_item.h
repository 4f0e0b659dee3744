// An item as it is stored. It is decoded only when its attributes are needed.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/values/attribute_value.h"

namespace mayfly::engine {

// Not thread-safe, because item() decodes the bytes on its first call.
class StoredItem {
 public:
  StoredItem() = default;
  explicit StoredItem(std::string bytes) : bytes_(std::move(bytes)) {}
  explicit StoredItem(Item item);  // encodes it
  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  [[nodiscard]] std::size_t size() const;  // as DynamoDB counts bytes
  [[nodiscard]] const Item& item() const;  // decodes once
  // Returns only the top-level attributes that have one of these names. Decodes no other attributes.
  [[nodiscard]] Item attributes(std::span<const std::string_view> names) const;
  Item take() &&;
  void assign(std::string_view bytes);  // reuses the buffer
  // Frees the decoded attributes, which can take forty times as much memory as the bytes. Invalidates
  // references to them.
  void free_tree();

 private:
  std::string bytes_;
  mutable bool decoded_ = false;
  mutable Item item_;
};

}  // namespace mayfly::engine
