// What became of a table's due items since it was opened: how many were deleted, and how late.
//
// Lateness is a histogram whose buckets grow by a quarter, so that a quantile is right within that.
//
// Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "engine/clock.h"

namespace mayfly::engine {

class ExpiryStats {
 public:
  static constexpr std::size_t bucket_count = 128;

  void record(Instant lag_ms);

  [[nodiscard]] std::int64_t deleted() const { return deleted_.load(std::memory_order_relaxed); }
  [[nodiscard]] Instant lag_ms_max() const { return lag_ms_max_.load(std::memory_order_relaxed); }
  [[nodiscard]] Instant lag_ms_total() const { return lag_ms_total_.load(std::memory_order_relaxed); }
  // The lag that this share of deletions did not exceed, rounded up to its bucket's end; 0: none yet.
  [[nodiscard]] Instant lag_ms_at(double share) const;

  // A bucket holds the lags up to this one that the bucket before does not.
  static Instant bucket_end_ms(std::size_t bucket);
  [[nodiscard]] std::int64_t in_bucket(std::size_t bucket) const {
    return buckets_[bucket].load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::int64_t>, bucket_count> buckets_{};
  std::atomic<std::int64_t> deleted_{0};
  std::atomic<Instant> lag_ms_max_{0}, lag_ms_total_{0};
};

}  // namespace mayfly::engine
