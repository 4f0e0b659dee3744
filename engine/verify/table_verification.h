// Checks that everything stored for a table matches its items.
//
// - Each item can be decoded and is stored under its own key.
// - Each item has the index entries and the expiry entry that it should have.
// - There are no other entries.
// - The counters match the items and the entries.
//
// The check walks the items and looks up each entry that an item should have. If the number of stored entries
// equals the number found that way, there are no other entries; otherwise the check walks the entries and
// looks up the item of each entry. Memory use is therefore constant, however large the table is. Entries may
// be missing while an index is being created or TTL is being enabled. An item that cannot be decoded is not
// used to check its entries, and the counters of a table that has such an item are not checked.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/clock.h"
#include "engine/schema/table.h"
#include "engine/time/expiry_index.h"
#include "engine/verify/counter_verification.h"
#include "engine/verify/findings.h"
#include "engine/verify/key_view.h"

namespace mayfly::engine {

class TableVerification {
 public:
  // The location of the table's counters: the key of an index's counter is `key_prefix` followed by the index
  // id. `present` returns the counters when they are not in storage.
  struct Counters {
    std::string key_prefix;
    std::function<Counts(IndexId)> present = nullptr;
  };
  // Requires: all reference arguments outlive this object. `name`: the table's name in findings. `now`: the
  // latest possible time by the account's clock.
  TableVerification(const KeyView& keys, const Table& table, std::string name, const ExpiryIndex& expiry,
                    Instant now, Counters counters, Findings& findings);
  void run();

 private:
  void check_item(std::string_view key, std::string_view stored);
  void check_indexes(std::string_view key, const Item& item);
  void check_expiry(std::string_view key, const Item& item);
  [[nodiscard]] bool expires_here_by(std::string_view key) const;
  void check_index(const Index& index);
  void check_index_entry(const Index& index, std::string_view entry, std::string_view item_key);
  void check_expiry_index();
  void check_expiry_entry(std::string_view stored_key);
  void check_never(std::string_view key, const TtlValue& ttl, bool has_expiry_entry);
  void check_gone_indexes();
  void check_counter(IndexId index, const std::string& what);

  enum class Owner : std::uint8_t { there, missing, unknown };  // unknown: the item cannot be decoded
  Owner find_item(std::string_view key, Item& item) const;

  void found(std::string_view kind, const std::string& what, Batch mend, std::vector<std::string> keys = {});
  [[nodiscard]] Batch putting(std::string_view key, std::string_view value) const;
  [[nodiscard]] Batch erasing(std::string_view key) const;

  const KeyView& keys_;
  const Table& table_;
  const std::string name_;
  const ExpiryIndex& expiry_;
  const Instant now_;
  const Counters counters_;
  Findings& findings_;

  std::map<IndexId, Counts> counts_;             // the expected counters
  std::map<IndexId, std::uint64_t> there_;       // entries found where they should be
  std::uint64_t undecoded_ = 0, misplaced_ = 0;  // numbers of items
};

}  // namespace mayfly::engine
