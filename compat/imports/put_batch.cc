#include "compat/imports/put_batch.h"

#include <algorithm>
#include <utility>

#include "compat/tables/lookup.h"
#include "engine/items/transaction.h"
#include "engine/values/item_size.h"

namespace mayfly::compat::imports {
namespace {

std::string name_of_index(const engine::Table& table, engine::IndexId id) {
  for (const engine::Index& index : table.indexes)
    if (index.id == id) return (index.kind == engine::Index::Kind::global ? "gsi/" : "lsi/") + index.name;
  return {};
}

void add_bytes(jobs::Counts& bytes, const engine::Transaction& transaction, engine::Transaction::Slot slot,
               const Written& written) {
  bytes["bytes"] += static_cast<std::int64_t>(written.new_bytes);
  for (const auto& effect : transaction.index_effects(slot)) {
    const std::string name = name_of_index(transaction.table(slot), effect.index);
    if (!name.empty() && effect.new_entry_bytes > 0)
      bytes[name] += static_cast<std::int64_t>(effect.new_entry_bytes);
  }
  for (const auto& [name, count] : written.vector_writes)
    bytes["vector/" + name] += static_cast<std::int64_t>(count);
}

}  // namespace

Result<Put> put_of(const std::shared_ptr<engine::LiveTable>& table, engine::Item item) {
  Put put{
      .write = {.kind = ItemWrite::Kind::put, .table = table, .item = engine::StoredItem(std::move(item))}};
  put.item_bytes = put.write.item.size();
  CHECK_OK(check_new_size(put.write.item));
  CHECK_OK(check_write(*table->description(), put.write));
  return put;
}

bool takes(const std::vector<Put>& puts, const Put& put) {
  std::size_t bytes = 0;
  for (const Put& other : puts) {
    if (other.write.key == put.write.key) return false;
    bytes += other.item_bytes;
  }
  return puts.size() < puts_max && bytes < puts_bytes_max;
}

Result<void> put_together(const Context& context, std::vector<Put>& puts, jobs::Counts* bytes) {
  if (puts.empty()) return {};
  engine::Transaction transaction(context.database.write_path(), engine::Cause::user);
  std::vector<engine::Transaction::Slot> slots;
  for (Put& put : puts) {
    CHECK_OK(check_room(put.write, context));
    slots.push_back(transaction.add(put.write.table, put.write.key));
  }
  if (!transaction.lock()) return not_locked(transaction);
  const WantedAnswer wanted{.capacity = bytes == nullptr ? ReturnCapacity::none : ReturnCapacity::indexes};
  CollectionSizes sizes(context);
  std::vector<std::optional<Written>> written(puts.size());
  for (std::size_t i = 0; i < puts.size(); ++i) {
    std::uint64_t steps = 0;  // counted separately for each item
    const Result<void> counted = count_steps(puts[i].write, transaction.old_item(slots[i]), steps);
    if (!counted) {
      puts[i].refused = counted.error();
      continue;
    }
    auto staged = stage_write(transaction, slots[i], puts[i].write, wanted, sizes);
    if (staged) {
      written[i] = *std::move(staged);
    } else {
      puts[i].refused = staged.error();
    }
  }
  transaction.commit();
  if (bytes == nullptr) return {};
  for (std::size_t i = 0; i < puts.size(); ++i)
    if (written[i]) add_bytes(*bytes, transaction, slots[i], *written[i]);
  return {};
}

}  // namespace mayfly::compat::imports
