// Counts a mapping's deliveries and failures since the server started.
//
// Lanes update the counters. A mapping keeps its Tally when its poller is replaced. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "compat/lambda/given_up.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"

namespace mayfly::compat::triggers {

class Tally {
 public:
  struct Counts {
    std::int64_t batches = 0, records = 0;  // batches and records that the function accepted
    std::int64_t failures = 0;              // calls that failed completely or in part
    std::int64_t retries = 0;               // repeated attempts for the same batch
    std::int64_t given_up = 0;              // records that were given up
    std::int64_t last_records = 0;          // number of records in the last accepted batch
    CallError last_failure;
    engine::Instant last_batch_at = 0, last_failure_at = 0;  // by the account's clock
  };

  void taken(std::size_t records, engine::Instant now) {
    const engine::Lock lock(mutex_);
    ++counts_.batches;
    counts_.records += static_cast<std::int64_t>(records);
    counts_.last_records = static_cast<std::int64_t>(records);
    counts_.last_batch_at = now;
  }
  void failed(CallError error, engine::Instant now) {
    const engine::Lock lock(mutex_);
    ++counts_.failures;
    counts_.last_failure = std::move(error);
    counts_.last_failure_at = now;
  }
  void retried() {
    const engine::Lock lock(mutex_);
    ++counts_.retries;
  }
  void gave_up(std::size_t records) {
    const engine::Lock lock(mutex_);
    counts_.given_up += static_cast<std::int64_t>(records);
  }
  [[nodiscard]] Counts counts() const {
    const engine::Lock lock(mutex_);
    return counts_;
  }
  [[nodiscard]] GivenUpLog& given_up_log() { return given_up_log_; }

 private:
  GivenUpLog given_up_log_;
  mutable engine::Mutex mutex_;
  Counts counts_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::compat::triggers
