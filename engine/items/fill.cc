#include "engine/items/fill.h"

#include <algorithm>
#include <vector>

#include "engine/items/transaction.h"
#include "engine/items/write_path.h"
#include "engine/storage/storage.h"

namespace mayfly::engine {

namespace {
constexpr std::size_t batch_bytes_max = 1 << 20;  // a batch ends with the item that reaches this limit
}  // namespace

Expected<Filled, FillRefusal> fill(const WritePath& path, HistoryCursor& from,
                                   const std::shared_ptr<LiveTable>& into, const std::stop_token& stop,
                                   const std::function<void(const Filled& so_far)>& progress,
                                   std::size_t batch_items_max) {
  if (from.gone()) return Unexpected{FillRefusal::gone};
  const std::size_t items_max = std::clamp<std::size_t>(batch_items_max, 1, fill_batch_items_max);
  Filled filled;
  std::vector<std::string> keys;
  std::vector<StoredItem> items;
  for (bool more = true; more;) {
    if (stop.stop_requested()) return Unexpected{FillRefusal::stopped};
    if (!path.storage.has_room()) return Unexpected{FillRefusal::no_room};
    keys.clear();
    items.clear();
    std::size_t bytes = 0;
    while (items.size() < items_max && bytes < batch_bytes_max && (more = from.next())) {
      keys.emplace_back(from.key());
      items.emplace_back(std::string(from.item().bytes()));
      bytes += items.back().bytes().size();
    }
    if (items.empty()) break;
    Transaction transaction(path, Cause::user);
    for (std::string& key : keys) transaction.add(into, std::move(key));
    if (!transaction.lock()) return Unexpected{FillRefusal::dropped};
    for (std::size_t slot = 0; slot < items.size(); ++slot) {
      filled.bytes += static_cast<std::int64_t>(items[slot].size());
      transaction.put_stored(slot, std::move(items[slot]));
    }
    transaction.commit();
    filled.items += static_cast<std::int64_t>(items.size());
    if (progress) progress(filled);
  }
  return filled;
}

}  // namespace mayfly::engine
