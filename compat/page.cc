#include "compat/page.h"

#include <algorithm>
#include <array>

#include "compat/attribute_value_json.h"
#include "compat/capacity.h"
#include "compat/expression/evaluate.h"
#include "compat/expression/projection.h"
#include "compat/rules.h"
#include "engine/item_size.h"
#include "engine/key_codec.h"

namespace mayfly::compat {

namespace {

using engine::AttributeValue;
using engine::Index;
using engine::Item;
using engine::Table;

bool has_attribute(const engine::KeySchema& keys, std::string_view name) {
  const auto named = [&](const engine::KeyAttribute& attribute) { return attribute.name == name; };
  return std::any_of(keys.partition.begin(), keys.partition.end(), named) ||
         std::any_of(keys.sort.begin(), keys.sort.end(), named);
}

void copy_keys(const engine::KeySchema& keys, const Item& from, Item& to) {
  for (const auto* part : {&keys.partition, &keys.sort}) {
    for (const auto& attribute : *part) {
      if (const AttributeValue* value = from.find(attribute.name)) to.set(attribute.name, *value);
    }
  }
}

// What is read of each item, and what it costs.
class Reader {
 public:
  Reader(const PageRequest& request, json::Writer* items)
      : request_(request),
        items_(items),
        partial_(request.target.index != nullptr &&
                 request.target.index->projection.kind != engine::Projection::Kind::all) {}

  // Returns the bytes that count towards the page's size.
  std::size_t add(const engine::StoredItem& stored, Page& page) {
    ++page.scanned;
    const bool projected = partial_ && !request_.whole_items;
    if (!partial_) {
      (request_.target.index ? index_bytes_ : table_bytes_) += stored.size();
      if (passes(stored)) write(stored, page);
      return stored.size();
    }
    const Item entry = projected_item(*request_.target.table, *request_.target.index, stored.item());
    const std::size_t entry_bytes = engine::item_size(entry);
    index_bytes_ += entry_bytes;
    if (projected) {
      if (!request_.filter || expression::evaluate(*request_.filter, entry)) write(entry, page);
      return entry_bytes;
    }
    table_bytes_ += stored.size();
    if (passes(stored)) write(stored, page);
    return stored.size();
  }

  void charge(Page& page) const {
    const bool fetched = partial_ && request_.whole_items;
    if (request_.target.index != nullptr) page.index_units = read_units(index_bytes_, request_.consistent);
    if (request_.target.index == nullptr || (fetched && table_bytes_ > 0)) {
      page.table_units = read_units(table_bytes_, request_.consistent);
    }
  }

 private:
  bool passes(const engine::StoredItem& stored) const {
    return !request_.filter || expression::evaluate(*request_.filter, stored.item());
  }

  void write(const engine::StoredItem& stored, Page& page) const {
    if (request_.projection) return write(stored.item(), page);
    ++page.count;
    if (items_ != nullptr) write_stored_item(*items_, stored.bytes());
  }

  void write(const Item& item, Page& page) const {
    ++page.count;
    if (items_ == nullptr) return;
    if (request_.projection) {
      write_item_object(*items_, expression::project(*request_.projection, item));
    } else {
      write_item_object(*items_, item);
    }
  }

  const PageRequest& request_;
  json::Writer* items_;
  bool partial_;  // the index does not project everything
  std::size_t table_bytes_ = 0;
  std::size_t index_bytes_ = 0;
};

}  // namespace

Page read_page(const engine::Database& database, const PageRequest& request, json::Writer* items) {
  Page page;
  Reader reader(request, items);
  engine::Cursor cursor(database, *request.target.live, request.range);
  if (items != nullptr) items->begin_array();
  std::size_t bytes = 0;
  bool full = false;
  while (!full && cursor.next()) {
    bytes += reader.add(cursor.item(), page);
    full = bytes >= page_bytes_max || (request.limit && page.scanned >= *request.limit);
  }
  if (items != nullptr) items->end_array();
  if (full) {
    Item& key = page.last_evaluated_key.emplace();
    copy_keys(request.target.table->keys, cursor.item().item(), key);
    if (request.target.index != nullptr) copy_keys(request.target.index->keys, cursor.item().item(), key);
  }
  reader.charge(page);
  return page;
}

bool is_projected(const Table& table, const Index& index, std::string_view name) {
  switch (index.projection.kind) {
    case engine::Projection::Kind::all:
      return true;
    case engine::Projection::Kind::include:
      if (std::find(index.projection.attributes.begin(), index.projection.attributes.end(), name) !=
          index.projection.attributes.end()) {
        return true;
      }
      [[fallthrough]];
    case engine::Projection::Kind::keys_only:
      break;
  }
  return has_attribute(table.keys, name) || has_attribute(index.keys, name);
}

Item projected_item(const Table& table, const Index& index, const Item& item) {
  Item projected;
  for (const auto& [name, value] : item) {
    if (is_projected(table, index, name)) projected.append(name, value);
  }
  return projected;
}

std::string encode_position(const ReadTarget& target, const Item& item) {
  const std::string table_key = encode_key(*target.table, item);
  if (target.index == nullptr) return table_key;
  std::vector<const AttributeValue*> partition, sort;
  for (const auto& attribute : target.index->keys.partition) partition.push_back(item.find(attribute.name));
  for (const auto& attribute : target.index->keys.sort) sort.push_back(item.find(attribute.name));
  std::string position;
  engine::append_key(position, partition, sort);
  return position + table_key;
}

void start_after(engine::KeyRange& range, std::string position) {
  if (range.forward) {
    position += '\0';  // the smallest key that is greater
    range.lower = std::max(range.lower, std::move(position));
  } else if (range.upper.empty() || position < range.upper) {
    range.upper = std::move(position);
  }
}

}  // namespace mayfly::compat
