// Counts what a table's sweep has done, for Prometheus.
//
//   mayfly_sweep_items_total{table="carts",outcome="deleted"} 1234
//   mayfly_sweep_lag_seconds_bucket{table="carts",le="1"} 1230
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/sweep/departure.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"

namespace mayfly::sweep {

inline constexpr std::array<double, 12> lag_seconds_bounds = {0.1, 0.25, 0.5, 1,   1.5,  2,
                                                              5,   10,   60,  300, 3600, 86400};

// Thread-safe.
class Tally {
 public:
  struct Counts {
    std::array<std::uint64_t, 5> outcomes{};  // indexed by Outcome
    std::uint64_t throttles = 0, rounds = 0, lag_count = 0;
    double lag_seconds = 0;
    std::array<std::uint64_t, lag_seconds_bounds.size()> lags{};  // not cumulative
    std::uint64_t shards_held = 0, sweepers = 0;
    std::int64_t watermark = 0;  // the oldest window that is not done, in the held shards

    [[nodiscard]] std::uint64_t of(Outcome outcome) const {
      return outcomes[static_cast<std::size_t>(outcome)];
    }
  };

  // `now` is the time of the deletion, for the lag.
  void add(const Settled& settled, engine::Instant now) EXCLUDES(mutex_);
  void add_round(std::int64_t watermark, std::size_t shards_held) EXCLUDES(mutex_);
  void set_sweepers(std::size_t count) EXCLUDES(mutex_);
  [[nodiscard]] Counts counts() const EXCLUDES(mutex_);

 private:
  mutable engine::Mutex mutex_;
  Counts counts_ GUARDED_BY(mutex_);
};

std::string_view outcome_name(Outcome outcome);

// All tables' counts in Prometheus text format.
struct NamedCounts {
  std::string table;
  Tally::Counts counts;
};
std::string metrics_text(const std::vector<NamedCounts>& tables);

}  // namespace mayfly::sweep
