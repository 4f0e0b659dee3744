// Whether what is stored of a table is what its items say: each item decodes and lies under its own key, each
// has the index entries and the expiry entry that it should have, no entry is left over, and the counters
// count them.
//
// The items are walked, and each entry is looked up that an item should have. If then as many entries are
// there as were found so, none is left over; otherwise the entries are walked, and the item of each is looked
// up. So it takes no memory to speak of, however many there are. While an index is being created, or TTL
// being switched on, entries may still be missing. An item that cannot be decoded is not judged by, nor are
// the counters of a table that has one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/clock.h"
#include "engine/counter_verification.h"
#include "engine/expiry_index.h"
#include "engine/findings.h"
#include "engine/key_view.h"
#include "engine/table.h"

namespace mayfly::engine {

class TableVerification {
 public:
  // Where the table's counters are: an index's is the key with its id behind it. `present` says what they are
  // if they are not in storage.
  struct Counters {
    std::string key_prefix;
    std::function<Counts(IndexId)> present = nullptr;
  };
  // What is named outlives it. `name`: the table for people. `now`: at the latest, by the account's clock.
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

  enum class Owner : std::uint8_t { there, missing, unknown };  // unknown: it cannot be decoded
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

  std::map<IndexId, Counts> counts_;             // as they should be
  std::map<IndexId, std::uint64_t> there_;       // entries that were found where they should be
  std::uint64_t undecoded_ = 0, misplaced_ = 0;  // items
};

}  // namespace mayfly::engine
