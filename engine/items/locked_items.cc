#include "engine/items/locked_items.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/items/write_path.h"
#include "engine/storage/key_space.h"
#include "engine/tables/catalog.h"
#include "engine/tables/region_claims.h"

namespace mayfly::engine {
namespace {

constexpr TableId no_table = 0;  // tables are numbered from 1

}  // namespace

std::size_t LockedItems::place_of(std::shared_ptr<LiveTable> table) {
  std::size_t place = 0;
  while (place < tables_.size() && tables_[place].live != table) ++place;
  if (place == tables_.size()) tables_.push_back({std::move(table), nullptr});
  return place;
}

std::size_t LockedItems::add(std::shared_ptr<LiveTable> table, std::string key) {
  MAYFLY_CHECK(!are_held());
  const std::size_t place = place_of(std::move(table));
  ItemChange& item = items_.emplace_back();
  item.table = place;
  item.key = std::move(key);
  return items_.size() - 1;
}

ItemChange& LockedItems::adopt(const LockedItems& holder, const ItemChange& item) {
  if (tables_.empty()) tables_ = holder.tables_;
  ItemChange& adopted = items_.emplace_back();
  adopted.table = item.table;
  adopted.key = item.key;
  adopted.version = item.version;
  return adopted;
}

Account& LockedItems::account() const { return tables_.front().live->account(); }

void LockedItems::release() {
  locks_.release();
  for (const std::string& claim : claims_) path_.region_claims.release(claim);
  claims_.clear();
  for (; gates_held_ > 0; --gates_held_) tables_[gates_held_ - 1].live->gate_.unlock_shared();
}

bool LockedItems::take_gates() {
  if (tables_.size() > 1) {
    // Gates are taken in the order of table ids, so the tables are sorted. Items refer to tables by position,
    // so the positions in the items are updated.
    std::vector<std::shared_ptr<LiveTable>> before;
    for (const auto& table : tables_) before.push_back(table.live);
    std::sort(tables_.begin(), tables_.end(),
              [](const auto& a, const auto& b) { return a.live->id() < b.live->id(); });
    for (ItemChange& item : items_)
      item.table = static_cast<std::size_t>(
          std::find_if(tables_.begin(), tables_.end(),
                       [&](const auto& table) { return table.live == before[item.table]; }) -
          tables_.begin());
  }
  for (HeldTable& table : tables_) {
    table.live->gate_.lock_shared();
    ++gates_held_;
    if (table.live->dropped()) {
      release();
      return false;
    }
    table.description = table.live->description();
  }
  return true;
}

// Adds the missing mirrors of items in tables with strong consistency. A table's replicas cannot change while
// its gate is held.
bool LockedItems::add_mirrors() {
  bool added = false;
  for (std::size_t slot = 0; slot < items_.size(); ++slot) {
    if (items_[slot].mirrors) continue;
    const std::shared_ptr<const Table> table = tables_[items_[slot].table].description;
    if (!table->strong) continue;
    for (const Replica& replica : table->replicas) {
      const bool there = std::any_of(items_.begin(), items_.end(), [&](const ItemChange& other) {
        return other.mirrors == slot && live_of(other).id() == replica.table;
      });
      std::shared_ptr<LiveTable> live = there ? nullptr : path_.catalog.find(replica.table);
      if (!live) continue;
      ItemChange mirror;
      mirror.table = place_of(std::move(live));
      mirror.key = items_[slot].key;
      mirror.mirrors = slot;
      items_.push_back(std::move(mirror));
      added = true;
    }
  }
  return added;
}

bool LockedItems::drop_mirrors() {
  std::vector<HeldTable> kept;
  const std::size_t before = items_.size();
  std::erase_if(items_, [](const ItemChange& item) { return item.mirrors.has_value(); });
  for (ItemChange& item : items_) {
    const HeldTable& own = tables_[item.table];
    const auto known = std::find_if(kept.begin(), kept.end(),
                                    [&](const HeldTable& other) { return other.live == own.live; });
    item.table = static_cast<std::size_t>(known - kept.begin());
    if (known == kept.end()) kept.push_back(own);
  }
  tables_ = std::move(kept);
  return items_.size() < before;
}

// The name of a claimed item is its key, prefixed by the id of the oldest table of the global table. The name
// is the same in all regions.
bool LockedItems::claim_items() {
  for (const ItemChange& item : items_) {
    const Table& table = table_of(item);
    if (!table.strong || item.mirrors) continue;
    const TableId eldest = std::min(table.id, table.replicas.front().table);
    std::string name = item_key(eldest, 0, item.key);
    if (!path_.region_claims.claim(name, table.id)) return false;
    claims_.push_back(std::move(name));
  }
  return true;
}

LockedItems::Outcome LockedItems::lock(std::string_view token) {
  for (;;) {
    if (!take_gates()) {
      if (drop_mirrors()) continue;  // a replica was removed
      return Outcome::table_dropped;
    }
    const bool strong = std::any_of(tables_.begin(), tables_.end(),
                                    [](const auto& table) { return table.description->strong; });
    if (!strong) break;
    if (!add_mirrors()) {
      if (claim_items()) break;
      release();
      return Outcome::other_region_writes;
    }
    release();  // so that the next round takes all gates in order
  }
  std::vector<LockTable::Stripe> stripes;
  stripes.reserve(items_.size() + 1);
  for (const ItemChange& item : items_) stripes.push_back(LockTable::stripe_of(live_of(item).id(), item.key));
  if (!token.empty()) stripes.push_back(LockTable::stripe_of(no_table, token));
  locks_.take(path_.locks, std::move(stripes));
  return Outcome::locked;
}

}  // namespace mayfly::engine
