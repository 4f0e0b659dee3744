// The size of the history (history.h) and its limit, for all accounts together.
#pragma once

#include <cstdint>

#include "engine/base/clock.h"
#include "engine/schema/table.h"

namespace mayfly::engine {

class Catalog;
class Points;
class Storage;

inline constexpr Instant day_ms = Instant{24} * 3600 * 1000;

// Returns the earliest instant that a table can be restored to.
Instant earliest_of(const Recovery& recovery, Instant now);

class HistorySize {
 public:
  // `bytes_max` is DatabaseOptions::history_bytes_max. Requires: the other arguments outlive this object.
  HistorySize(const Storage& storage, const Catalog& catalog, const Points& points, std::uint64_t bytes_max)
      : storage_(storage), catalog_(catalog), points_(points), asked_(bytes_max) {}

  struct Footprint {
    std::int64_t versions = 0;
    std::int64_t bytes = 0;  // the total size of their keys and values
  };
  [[nodiscard]] Footprint footprint() const;
  [[nodiscard]] std::uint64_t bytes_max() const;

 private:
  const Storage& storage_;
  const Catalog& catalog_;
  const Points& points_;
  const std::uint64_t asked_;
};

}  // namespace mayfly::engine
