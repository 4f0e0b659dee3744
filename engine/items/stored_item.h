// An item as it is stored. It is decoded only when its attributes are needed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "engine/values/attribute_value.h"

namespace mayfly::engine {

class StoredItem {
 public:
  StoredItem() = default;
  explicit StoredItem(std::string bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  [[nodiscard]] std::size_t size() const;  // as DynamoDB counts bytes
  [[nodiscard]] const Item& item() const;  // decodes once
  Item take() &&;
  void assign(std::string_view bytes);  // reuses the buffer

 private:
  std::string bytes_;
  mutable bool decoded_ = false;
  mutable Item item_;
};

}  // namespace mayfly::engine
