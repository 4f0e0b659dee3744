// One item of a transaction, before and after the transaction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/schema/table.h"
#include "engine/tables/replica_log.h"
#include "engine/time/expiry_index.h"
#include "engine/values/attribute_value.h"
#include "engine/values/stored_item.h"

namespace mayfly::engine {

class LiveTable;

// An index entry whose projected content was changed by the commit, for consumed capacity.
struct IndexEffect {
  IndexId index;
  std::size_t old_entry_bytes;  // size of the old projection; 0: there was no entry
  std::size_t new_entry_bytes;
  bool key_changed;  // the old entry was deleted and another one inserted
};

struct HeldTable {
  std::shared_ptr<LiveTable> live;
  std::shared_ptr<const Table> description;  // the description while the table's gate is held
};

struct ItemChange {
  enum class Write : std::uint8_t { none, put, remove, forget_expiry, fill_entries };

  std::size_t table;  // index into the transaction's tables
  std::string key;
  bool exists = false;
  StoredItem old_item;
  Write write = Write::none;
  StoredItem new_item;
  std::optional<Instant> entry_due;   // due instant of the expiry entry by which the reaper found the item
  std::optional<NeverReason> never;   // the reason why the staged item never expires
  std::optional<std::size_t> record;  // index into the staged records
  std::vector<IndexEffect> effects;
  WriteVersion version;                 // the stored version of an item in a global table
  std::optional<WriteVersion> arrives;  // the version to store instead, if another region made the write
  std::optional<std::size_t> mirrors;   // in a replica: index of the item that this one must become equal to

  [[nodiscard]] bool puts() const { return write == Write::put; }
  [[nodiscard]] bool changes() const { return write == Write::put || write == Write::remove; }
};

}  // namespace mayfly::engine
