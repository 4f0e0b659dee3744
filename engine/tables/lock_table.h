// The engine's own locks. Every thread takes them in this order:
//
//   1. an account's turn, then its requests (account.h)
//   2. tables' gates, by table id: writers hold a gate shared, changes to a description hold it exclusively
//   3. items and request tokens, by stripe (ItemLocks)
//   4. the commit section (committer.h)
//
// A change to the catalog takes the catalog's mutex for changes after the gates, and takes no item locks. A
// thread has at most one Transaction. All other locks (the catalog's maps, timers) are held for a few
// instructions, and a thread that holds such a lock takes no other.
//
// Rejected: RocksDB's TransactionDB. Its locks are per key and per column family, allocate memory each time
// they are taken, and rely on time-outs instead of an order. A striped mutex costs 20 ns, and writers know
// all their keys before they take a lock.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/gate.h"
#include "engine/schema/table.h"

namespace mayfly::engine {

class LockTable {
 public:
  using Stripe = std::uint16_t;
#if defined(__SANITIZE_THREAD__)
  // TSan tracks at most 64 locks per thread, and a batch may hold every stripe.
  static constexpr std::size_t stripe_count = 32;
#else
  static constexpr std::size_t stripe_count = 1024;
#endif

  static Stripe stripe_of(TableId table, std::string_view key);

 private:
  friend class ItemLocks;
  std::array<Mutex, stripe_count> stripes_;
};

// Holds the locks of a set of items. Several items can share a stripe.
class ItemLocks {
 public:
  ItemLocks() = default;
  ~ItemLocks() { release(); }
  ItemLocks(const ItemLocks&) = delete;
  ItemLocks& operator=(const ItemLocks&) = delete;

  // `stripes` may be in any order and contain duplicates. In a Hurry (hurry.h), throws NotNow instead of
  // waiting. Requires: this object holds no locks.
  void take(LockTable& table, std::vector<LockTable::Stripe> stripes);
  void release();

 private:
  LockTable* table_ = nullptr;
  std::vector<LockTable::Stripe> held_;
};

}  // namespace mayfly::engine
