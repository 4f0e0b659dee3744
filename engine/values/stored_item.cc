#include "engine/values/stored_item.h"

#include "engine/values/item_codec.h"

namespace mayfly::engine {

StoredItem::StoredItem(Item item) : decoded_(true), item_(std::move(item)) { encode_item(item_, bytes_); }

std::size_t StoredItem::size() const { return stored_item_size(bytes_); }

const Item& StoredItem::item() const {
  if (!decoded_) {
    item_ = decode_item(bytes_);
    decoded_ = true;
  }
  return item_;
}

Item StoredItem::attributes(std::span<const std::string_view> names) const {
  if (!decoded_) return stored_attributes(bytes_, names);
  Item found;
  for (const std::string_view name : names)
    if (const AttributeValue* value = item_.find(name)) found.set(std::string(name), *value);
  return found;
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

void StoredItem::free_tree() {
  item_ = Item();
  decoded_ = false;
}

}  // namespace mayfly::engine
