// Counts each operation's calls and failures and measures how long it takes.
//
// Thread-safe. Each recorded call costs two reads of the host's clock and three relaxed atomic additions.
//
//   metrics.record(operation_number, answer.status, duration);
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

namespace mayfly::compat {

class Metrics {
 public:
  static constexpr std::array<std::int64_t, 15> bucket_ends_us = {
      25,     50,     100,    250,     500,     1'000,     2'500,     5'000,
      10'000, 25'000, 50'000, 100'000, 250'000, 1'000'000, 10'000'000};

  // A histogram of durations. The last bucket counts calls that took longer than the last of bucket_ends_us.
  struct Of {
    std::array<std::atomic<std::int64_t>, bucket_ends_us.size() + 1> buckets{};
    std::atomic<std::int64_t> nanoseconds{0};
    std::atomic<std::int64_t> client_errors{0}, server_errors{0};
  };

  explicit Metrics(std::size_t operations) : operations_(operations) {}

  void record(std::size_t operation, int status, std::chrono::nanoseconds duration) {
    Of& of = operations_[operation];
    const std::int64_t us = duration.count() / 1000;
    std::size_t bucket = 0;
    while (bucket < bucket_ends_us.size() && us >= bucket_ends_us[bucket]) ++bucket;
    of.buckets[bucket].fetch_add(1, std::memory_order_relaxed);
    of.nanoseconds.fetch_add(duration.count(), std::memory_order_relaxed);
    if (status >= 400)
      (status < 500 ? of.client_errors : of.server_errors).fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] const Of& of(std::size_t operation) const { return operations_[operation]; }

 private:
  std::vector<Of> operations_;
};

}  // namespace mayfly::compat
