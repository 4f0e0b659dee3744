// Decides whether to retry a request and how long to wait first, like the standard mode of AWS's SDKs.
//
//   RetryQuota quota;
//   if (attempt < attempts_max && is_retryable(name, status) && quota.take(retry_cost))
//     wait(pause_before(attempt));
//
// Rules: "Retry behavior" in the AWS SDKs and Tools Reference Guide.
#pragma once

#include <chrono>
#include <string_view>

#include "engine/base/mutex.h"
#include "engine/base/random.h"

namespace mayfly::aws {

// is_throttling() returns whether the error reports too many requests. is_retryable() returns whether another
// attempt may succeed.
bool is_throttling(std::string_view name);
bool is_retryable(std::string_view name, int status);

// Returns a random pause before attempt 2 or a later attempt. The maximum pause is 50 ms before attempt 2,
// and doubles with each further attempt up to 20 s.
inline constexpr std::chrono::milliseconds pause_base{50}, pause_max{20'000};
std::chrono::milliseconds pause_before(int attempt, engine::Random& random);

// Limits the retries of a client across all its threads. If an endpoint stops answering, the quota soon runs
// out and requests are no longer retried.
//
// Thread-safe.
class RetryQuota {
 public:
  static constexpr int capacity = 500, retry_cost = 5, timeout_cost = 10, success = 1;

  bool take(int cost) EXCLUDES(mutex_);  // false: less than `cost` is left
  void give_back(int cost) EXCLUDES(mutex_);

 private:
  engine::Mutex mutex_;
  int left_ GUARDED_BY(mutex_) = capacity;
};

}  // namespace mayfly::aws
