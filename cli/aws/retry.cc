#include "cli/aws/retry.h"

#include <algorithm>

namespace mayfly::aws {

bool is_throttling(std::string_view name) {
  constexpr std::string_view names[] = {"Throttling",
                                        "ThrottlingException",
                                        "ThrottledException",
                                        "RequestThrottledException",
                                        "RequestThrottled",
                                        "TooManyRequestsException",
                                        "ProvisionedThroughputExceededException",
                                        "RequestLimitExceeded",
                                        "BandwidthLimitExceeded",
                                        "LimitExceededException",
                                        "SlowDown",
                                        "PriorRequestNotComplete",
                                        "TransactionInProgressException"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool is_retryable(std::string_view name, int status) {
  return is_throttling(name) || name == "RequestTimeout" || name == "RequestTimeoutException" ||
         status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

std::chrono::milliseconds pause_before(int attempt, engine::Random& random) {
  const int doublings = std::clamp(attempt - 2, 0, 20);
  const auto longest = std::min(pause_max, pause_base * (1 << doublings));
  return std::chrono::milliseconds(
      static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(longest.count() + 1)));
}

bool RetryQuota::take(int cost) {
  const engine::Lock lock(mutex_);
  if (left_ < cost) return false;
  left_ -= cost;
  return true;
}

void RetryQuota::give_back(int cost) {
  const engine::Lock lock(mutex_);
  left_ = std::min(capacity, left_ + cost);
}

}  // namespace mayfly::aws
