// The latest items of a table whose TTL looks like a mistake: it can never expire them, or had passed when it
// was written. In memory, since the table was opened: for people who ask why a test failed.
//
// Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "engine/attribute_value.h"
#include "engine/clock.h"
#include "engine/expiry_index.h"
#include "engine/mutex.h"

namespace mayfly::engine {

struct TtlSuspect {
  std::string key;                   // encoded
  Item key_attributes;               // the same
  std::optional<NeverReason> never;  // nothing: it was deleted at once
  std::optional<Instant> at;         // when it was written, if that is known
};

class TtlSuspects {
 public:
  static constexpr std::size_t kept_max = 10;

  // In place of an earlier one of the same item. True: the first that never expires for this reason.
  bool note(TtlSuspect suspect);
  [[nodiscard]] std::vector<TtlSuspect> latest() const;  // the latest first

 private:
  mutable Mutex mutex_;
  std::deque<TtlSuspect> kept_ GUARDED_BY(mutex_);  // the latest last
  std::array<bool, never_reasons.size()> noted_ GUARDED_BY(mutex_){};
};

}  // namespace mayfly::engine
