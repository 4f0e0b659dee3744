// Statistics about the items of a table that have expired since the table was opened: how many were deleted,
// how late they were deleted, and the most recent deletions.
//
// Lateness is recorded in a histogram in which the end of each bucket is a quarter higher than that of the
// previous bucket, so a quantile is accurate to within 25 %. An item whose TTL had already passed when it was
// written counts as deleted on time.
//
// Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"

namespace mayfly::engine {

class ExpiryStats {
 public:
  static constexpr std::size_t bucket_count = 128;
  static constexpr std::size_t remembered_max = 1000;

  struct Deletion {
    Instant due, at;
    bool born_due;  // the item was already due when it was written
  };
  void record(std::string_view key, const Deletion& deletion);

  // The latest deletion of the item with this key; nullopt if it is not among the last
  // `remembered_max` deletions.
  [[nodiscard]] std::optional<Deletion> last_of(std::string_view key) const;
  [[nodiscard]] std::int64_t deleted() const { return deleted_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t born_due() const { return born_due_.load(std::memory_order_relaxed); }
  // The number of items that were born due since the last call.
  std::int64_t take_born_due();
  [[nodiscard]] Instant lag_ms_max() const { return lag_ms_max_.load(std::memory_order_relaxed); }
  [[nodiscard]] Instant lag_ms_total() const { return lag_ms_total_.load(std::memory_order_relaxed); }
  // The lag that this share of all deletions did not exceed, rounded up to the end of its bucket but not
  // above lag_ms_max(); 0 if there are no deletions yet.
  [[nodiscard]] Instant lag_ms_at(double share) const;

  // The largest lag in a bucket. Each bucket begins after the previous bucket's end.
  static Instant bucket_end_ms(std::size_t bucket);
  [[nodiscard]] std::int64_t in_bucket(std::size_t bucket) const {
    return buckets_[bucket].load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::int64_t>, bucket_count> buckets_{};
  std::atomic<std::int64_t> deleted_{0}, born_due_{0};
  std::atomic<Instant> lag_ms_max_{0}, lag_ms_total_{0};

  struct Remembered {
    std::string key;
    Deletion deletion;
  };
  mutable Mutex mutex_;
  std::vector<Remembered> remembered_ GUARDED_BY(mutex_);  // when it is full, the oldest entry is overwritten
  std::size_t next_ GUARDED_BY(mutex_) = 0;
  std::int64_t born_due_taken_ GUARDED_BY(mutex_) = 0;
};

}  // namespace mayfly::engine
