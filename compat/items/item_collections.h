// Item collections: the items of a table with local indexes that share a partition key, with their index
// entries.
//
// AWS lets one grow to ten gigabytes. Nobody writes as much into an emulator, so the limit is looked at only
// where an option lowers it: each write then reads the collection that it makes larger.
//
//   CollectionSizes sizes(context);                       // of one request
//   CHECK_OK(sizes.grow(*live, table, old_item, item));   // ItemCollectionSizeLimitExceededException
#pragma once

#include <map>
#include <string>
#include <utility>

#include "compat/context.h"
#include "compat/wire/error.h"
#include "compat/wire/json.h"
#include "engine/attribute_value.h"
#include "engine/cursor.h"
#include "engine/table.h"

namespace mayfly::compat {

bool has_item_collections(const engine::Table& table);

// {"ItemCollectionKey":{…},"SizeEstimateRangeGB":[0.0,1.0]}
void write_collection_metrics(json::Writer& out, const engine::Table& table, const engine::Item& key);

// The collections that a request writes to. Writes of one request count for each other.
class CollectionSizes {
 public:
  explicit CollectionSizes(const Context& context) : context_(context) {}
  // A write that makes a collection no larger is never refused.
  Result<void> grow(const engine::LiveTable& live, const engine::Table& table,
                    const engine::StoredItem* old_item, const std::optional<engine::Item>& new_item);

 private:
  const Context& context_;
  std::map<std::pair<engine::TableId, std::string>, std::size_t> bytes_;  // by partition
};

}  // namespace mayfly::compat
