#include "compat/items/page.h"

#include <algorithm>
#include <array>

#include "compat/expression/evaluate.h"
#include "compat/expression/projection.h"
#include "compat/items/capacity.h"
#include "compat/items/keys.h"
#include "compat/wire/attribute_value_json.h"
#include "engine/base/hurry.h"
#include "engine/items/cursor.h"
#include "engine/schema/index_entries.h"
#include "engine/values/item_size.h"
#include "engine/values/key_codec.h"

namespace mayfly::compat {

namespace {

using engine::Index;
using engine::Item;
using engine::Table;

// Reads the items of a page and counts the units that they cost.
class Reader {
 public:
  Reader(const PageRequest& request, json::Writer* items)
      : request_(request),
        items_(items),
        partial_(request.target.index != nullptr &&
                 request.target.index->projection.kind != engine::Projection::Kind::all) {}

  // Returns the bytes that count toward the page size.
  std::size_t add(const engine::StoredItem& stored, std::string_view key, Page& page) {
    ++page.scanned;
    std::size_t& bytes = bytes_[partition_of(key)];
    if (!partial_) {
      bytes += stored.size();
      if (passes(stored)) write(stored, page);
      return stored.size();
    }
    const Item entry = projected_item(*request_.target.table, *request_.target.index, stored.item());
    const std::size_t entry_bytes = engine::item_size(entry);
    bytes += entry_bytes;
    if (!request_.whole_items) {
      if (!request_.filter || expression::evaluate(*request_.filter, entry)) write(entry, page);
      return entry_bytes;
    }
    fetched_units_ += read_units(stored.size(), request_.consistent);
    if (passes(stored)) write(stored, page);
    return stored.size();
  }

  // `end`: the key at which the page ended, or empty for the end of the range.
  void charge(std::string_view end, Page& page) const {
    const std::size_t first = partition_of(request_.range.lower);
    const std::size_t last = !end.empty()                   ? partition_of(end)
                             : request_.range.upper.empty() ? request_.partitions - 1
                                                            : partition_before(request_.range.upper);
    double units = 0;
    for (std::size_t i = std::min(first, last); i <= std::max(first, last); ++i) {
      units += read_units(bytes_[i], request_.consistent);
    }
    (request_.target.index ? page.index_units : page.table_units) = units;
    page.table_units += fetched_units_;
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
    if (request_.projection && request_.flat_projection) {
      write_item_object(*items_, expression::project_flat(*request_.projection, item));
    } else if (request_.projection) {
      write_item_object(*items_, expression::project(*request_.projection, item));
    } else {
      write_item_object(*items_, item);
    }
  }

  [[nodiscard]] std::size_t partition_of_hash(std::uint64_t hash) const {
    return static_cast<std::size_t>(hash / (~std::uint64_t{0} / request_.partitions + 1));
  }
  [[nodiscard]] std::size_t partition_of(std::string_view key) const {
    return request_.partitions == 1 || key.empty() ? 0 : partition_of_hash(engine::partition_hash(key));
  }
  // Returns the last partition that a range with this upper bound reaches.
  [[nodiscard]] std::size_t partition_before(std::string_view bound) const {
    return request_.partitions == 1 ? 0 : partition_of_hash(engine::partition_hash(bound) - 1);
  }

  const PageRequest& request_;
  json::Writer* items_;
  bool partial_;                                     // the index does not project all attributes
  std::array<std::size_t, partitions_max> bytes_{};  // read, by partition
  double fetched_units_ = 0;  // whole items fetched for an index; each is charged separately
};

}  // namespace

Result<Page> read_page(const engine::Database& database, const PageRequest& request, json::Writer* items) {
  if (items != nullptr) items->begin_array();
  TRY(Page page, read_items(database, request, items));
  if (items != nullptr) items->end_array();
  return page;
}

Result<Page> read_items(const engine::Database& database, const PageRequest& request, json::Writer* items) {
  Page page;
  Reader reader(request, items);
  engine::Cursor cursor(database.reader(), *request.target.live, request.range, request.sight);
  CHECK_OK(check_still_there(request.target));
  const expression::Work work = request.filter ? expression::work_of(*request.filter) : expression::Work{};
  std::uint64_t steps_at_most = 0;
  bool full = false;
  constexpr std::uint64_t nanoseconds_per_item = 500;
  while (!full && cursor.next()) {
    engine::Hurry::spend(nanoseconds_per_item);
    page.bytes += reader.add(cursor.item(), cursor.key(), page);
    if (request.filter) {
      // Count the item's values only if the page could reach request.steps_max, because counting takes 200
      // instructions for an item of 1 KB.
      const std::size_t bytes = cursor.item().size();
      steps_at_most += work.steps_at_most(bytes);
      const std::uint64_t steps =
          steps_at_most < request.steps_max ? work.steps_on_text(bytes) : work.steps_on(cursor.item().item());
      engine::Hurry::spend(steps * expression::nanoseconds_per_step);
      page.steps += steps;
    }
    full = page.bytes >= request.bytes_max || page.steps >= request.steps_max ||
           (request.limit && page.scanned >= *request.limit);
  }
  full = full || cursor.paused();  // AWS also ends a page once it has read enough, even without items
  if (full && !(request.one_row && page.scanned > 0)) {
    Item& key = page.last_evaluated_key.emplace();
    engine::copy_keys(request.target.table->keys, cursor.item().item(), key);
    if (request.target.index != nullptr)
      engine::copy_keys(request.target.index->keys, cursor.item().item(), key);
  }
  reader.charge(full ? cursor.key() : std::string_view(), page);
  return page;
}

Item projected_item(const Table& table, const Index& index, const Item& item) {
  Item projected;
  for (const auto& [name, value] : item) {
    if (engine::projects(table, index, name)) projected.append(name) = value;
  }
  return projected;
}

}  // namespace mayfly::compat
