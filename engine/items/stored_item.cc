#include "engine/items/stored_item.h"

#include "engine/values/item_codec.h"

namespace mayfly::engine {

std::size_t StoredItem::size() const { return stored_item_size(bytes_); }

const Item& StoredItem::item() const {
  if (!decoded_) {
    item_ = decode_item(bytes_);
    decoded_ = true;
  }
  return item_;
}

Item StoredItem::take() && {
  if (!decoded_) return decode_item(bytes_);
  decoded_ = false;
  return std::move(item_);
}

void StoredItem::assign(std::string_view bytes) {
  bytes_.assign(bytes);
  decoded_ = false;
}

}  // namespace mayfly::engine
