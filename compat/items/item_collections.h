// Sizes of item collections: the items that share a partition key in a table with local indexes, together
// with their index entries.
//
// AWS limits a collection to 10 GB. Test data does not get that large, so Mayfly checks a limit only if an
// option sets a lower one. In that case, a request scans each collection that it puts items into, but only
// once.
//
//   CollectionSizes sizes(context);                       // of one request
//   CHECK_OK(sizes.grow(*live, table, old_item, item));   // ItemCollectionSizeLimitExceededException
#pragma once

#include <map>
#include <string>
#include <utility>

#include "compat/context.h"
#include "compat/json/json.h"
#include "compat/wire/error.h"
#include "engine/items/cursor.h"
#include "engine/schema/table.h"
#include "engine/values/attribute_value.h"

namespace mayfly::compat {

bool has_item_collections(const engine::Table& table);

// Writes {"ItemCollectionKey":{…},"SizeEstimateRangeGB":[0.0,1.0]}.
void write_collection_metrics(json::Writer& out, const engine::Table& table, const engine::Item& key);

// The sizes of the collections that one request writes to. They include the request's earlier writes.
class CollectionSizes {
 public:
  explicit CollectionSizes(const Context& context) : context_(context) {}
  // Adds a write to the size of its collection. Rejects the write if it makes the collection larger and the
  // new size exceeds the limit.
  Result<void> grow(const engine::LiveTable& live, const engine::Table& table,
                    const engine::StoredItem* old_item, const engine::StoredItem* new_item);

 private:
  const Context& context_;
  std::map<std::pair<engine::TableId, std::string>, std::size_t> bytes_;  // by partition
};

}  // namespace mayfly::compat
