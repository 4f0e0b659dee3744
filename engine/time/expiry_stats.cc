#include "engine/time/expiry_stats.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mayfly::engine {

namespace {

using Ends = std::array<Instant, ExpiryStats::bucket_count>;

// Returns 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, ... in milliseconds. The last end is about 70 years.
Ends bucket_ends() {
  Ends ends{};
  for (std::size_t i = 1; i < ends.size(); ++i) ends[i] = std::max(ends[i - 1] + 1, ends[i - 1] * 5 / 4);
  return ends;
}

const Ends& ends() {
  static const Ends ends = bucket_ends();
  return ends;
}

}  // namespace

Instant ExpiryStats::bucket_end_ms(std::size_t bucket) { return ends()[bucket]; }

void ExpiryStats::record(std::string_view key, const Deletion& deletion) {
  const Instant lag_ms = deletion.born_due ? 0 : deletion.at - deletion.due;
  const auto bucket = std::lower_bound(ends().begin(), ends().end() - 1, lag_ms) - ends().begin();
  buckets_[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  deleted_.fetch_add(1, std::memory_order_relaxed);
  if (deletion.born_due) born_due_.fetch_add(1, std::memory_order_relaxed);
  lag_ms_total_.fetch_add(lag_ms, std::memory_order_relaxed);
  Instant max = lag_ms_max_.load(std::memory_order_relaxed);
  while (max < lag_ms && !lag_ms_max_.compare_exchange_weak(max, lag_ms)) {}

  const Lock lock(mutex_);
  if (remembered_.size() < remembered_max) {
    remembered_.push_back({std::string(key), deletion});
    return;
  }
  Remembered& oldest = remembered_[next_];
  oldest.key.assign(key);
  oldest.deletion = deletion;
  next_ = (next_ + 1) % remembered_max;
}

std::int64_t ExpiryStats::take_born_due() {
  const Lock lock(mutex_);
  const std::int64_t all = born_due();
  return all - std::exchange(born_due_taken_, all);
}

std::optional<ExpiryStats::Deletion> ExpiryStats::last_of(std::string_view key) const {
  const Lock lock(mutex_);
  for (std::size_t i = remembered_.size(); i > 0; --i) {
    const Remembered& one = remembered_[(next_ + i - 1) % remembered_.size()];
    if (one.key == key) return one.deletion;
  }
  return std::nullopt;
}

Instant ExpiryStats::lag_ms_at(double share) const {
  const std::int64_t total = deleted();
  if (total == 0) return 0;
  const auto wanted = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(total)));
  std::int64_t seen = 0;
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
    seen += in_bucket(bucket);
    if (seen >= wanted) return std::min(bucket_end_ms(bucket), lag_ms_max());
  }
  return lag_ms_max();
}

}  // namespace mayfly::engine
