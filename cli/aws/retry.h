// When a request is tried again, and how long to wait before: as the standard mode of AWS's SDKs does it.
//
//   RetryQuota quota;
//   if (attempt < attempts_max && is_retryable(name, status) && quota.take(retry_cost))
//   wait(pause_before(attempt));
//
// Rules: "Retry behavior" in the AWS SDKs and Tools Reference Guide.
#pragma once

#include <chrono>
#include <string_view>

#include "engine/mutex.h"
#include "engine/random.h"

namespace mayfly::aws {

// Whether an answer says that there were too many requests; whether another attempt may go better.
bool is_throttling(std::string_view name);
bool is_retryable(std::string_view name, int status);

// Before attempt 2, 3, …: anything from nothing to 50 ms doubled with each attempt, 20 s at most.
inline constexpr std::chrono::milliseconds pause_base{50}, pause_max{20'000};
std::chrono::milliseconds pause_before(int attempt, engine::Random& random);

// How many attempts a client may spend on trying again, all its threads together: where nothing is answered,
// each request is soon asked once only.
//
// Thread-safe.
class RetryQuota {
 public:
  static constexpr int capacity = 500, retry_cost = 5, timeout_cost = 10, success = 1;

  bool take(int cost) EXCLUDES(mutex_);  // false: there is not so much left
  void give_back(int cost) EXCLUDES(mutex_);

 private:
  engine::Mutex mutex_;
  int left_ GUARDED_BY(mutex_) = capacity;
};

}  // namespace mayfly::aws
