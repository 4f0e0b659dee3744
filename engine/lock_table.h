// Locks of our own, and the one order in which they are taken:
//
//   1. an account's turn, then its requests (account.h)
//   2. tables, by id, shared by writers (Gate); who changes a table's description holds it alone
//   3. items and request tokens, by stripe (ItemLocks)
//   4. the commit section (committer.h)
//
// A change of the catalog takes the catalog's mutex for changes after its gates, and no item's lock. A thread
// has at most one Transaction. What else is locked (the catalog's maps, timers) is held for a few
// instructions, and nothing is taken under it.
//
// Rejected: RocksDB's TransactionDB. Its locks are per key and per column family, allocate on each take, and
// time out rather than order; a striped mutex costs 20 ns and our writers know all their keys beforehand.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/gate.h"
#include "engine/table.h"

namespace mayfly::engine {

class LockTable {
 public:
  using Stripe = std::uint16_t;
#if defined(__SANITIZE_THREAD__)
  // TSan follows 64 locks of a thread; a batch may hold every stripe.
  static constexpr std::size_t stripe_count = 32;
#else
  static constexpr std::size_t stripe_count = 1024;
#endif

  static Stripe stripe_of(TableId table, std::string_view key);

 private:
  friend class ItemLocks;
  std::array<Mutex, stripe_count> stripes_;
};

// Holds the locks of some items. Two items may share a stripe.
class ItemLocks {
 public:
  ItemLocks() = default;
  ~ItemLocks() { release(); }
  ItemLocks(const ItemLocks&) = delete;
  ItemLocks& operator=(const ItemLocks&) = delete;

  // In any order, with repeats. Gives way (hurry.h) where it would wait.
  void take(LockTable& table, std::vector<LockTable::Stripe> stripes);
  void release();

 private:
  LockTable* table_ = nullptr;
  std::vector<LockTable::Stripe> held_;
};

}  // namespace mayfly::engine
