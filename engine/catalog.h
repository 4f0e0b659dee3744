// Name -> table, per account and region; and the streams that were ever enabled and are still readable.
//
// A LiveTable is one table from its creation to its deletion. Its description is immutable and swapped
// whole, while no write is under way (writers hold the table's lock shared, a change holds it alone), so
// that a write sees one set of indexes from its first read to its commit.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "engine/expected.h"
#include "engine/table.h"

namespace mayfly::engine {

class Storage;

// What DescribeTable counts. Exact, and committed with the writes they count.
struct Counter {
  std::atomic<std::int64_t> items{0};
  std::atomic<std::int64_t> bytes{0};
};

class LiveTable {
 public:
  explicit LiveTable(std::shared_ptr<const Table> table);

  [[nodiscard]] std::shared_ptr<const Table> description() const;
  [[nodiscard]] bool dropped() const;
  // Items and bytes of the table (index 0) or of one of its indexes.
  [[nodiscard]] Counter& counter(IndexId index) const;

 private:
  friend class Catalog;
  friend class Transaction;
  // The implementer's.
  mutable std::shared_mutex mutex_;
  std::shared_ptr<const Table> description_;
  bool dropped_ = false;
};

struct Scope {
  std::string account;  // twelve digits
  std::string region;
  friend auto operator<=>(const Scope&, const Scope&) = default;
};

}  // namespace mayfly::engine
