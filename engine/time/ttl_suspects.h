// Keeps a table's kept_max most recent items whose TTL looks like a mistake: the TTL can never expire the
// item, or had already passed when the item was written. The list helps developers find out why a test
// failed. It is kept in memory, from the time the table is opened.
//
// Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/time/expiry_index.h"
#include "engine/values/attribute_value.h"

namespace mayfly::engine {

struct TtlSuspect {
  std::string key;                   // encoded
  Item key_attributes;               // the same key, as attributes
  std::optional<NeverReason> never;  // nullopt: the TTL had passed, so the item was deleted immediately
  std::optional<Instant> at;         // when the item was written, if that is known
};

class TtlSuspects {
 public:
  static constexpr std::size_t kept_max = 10;

  // Adds the item, and replaces an earlier entry for the same item. Returns true if it is the first item that
  // never expires for this reason.
  bool note(TtlSuspect suspect);
  [[nodiscard]] std::vector<TtlSuspect> latest() const;  // latest first
  // The keys of kept items that were already due when they were written, since the last call. Latest first.
  std::vector<Item> take_born_due();

 private:
  mutable Mutex mutex_;
  struct Kept {
    TtlSuspect suspect;
    bool is_taken = false;
  };
  std::deque<Kept> kept_ GUARDED_BY(mutex_);  // latest last
  std::array<bool, never_reasons.size()> noted_ GUARDED_BY(mutex_){};
};

}  // namespace mayfly::engine
