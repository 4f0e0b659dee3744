// Calls a DynamoDB endpoint. While the endpoint is too busy, a request is retried with growing pauses until
// it is answered or the transfer is interrupted. Allowance keeps the cost below a limit.
//
//   auto endpoint = Endpoint::open({.endpoint = "http://127.0.0.1:8000"}, interruption);
//   auto answer = (*endpoint)->call("DescribeTable", R"({"TableName":"carts"})");
//   if (!answer) fail(answer.error().sentence());
//   // "ResourceNotFoundException: Requested resource not found"
//
// Thread-safe.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "cli/aws/client.h"
#include "cli/transfer/interruption.h"
#include "engine/base/expected.h"
#include "engine/base/mutex.h"

namespace mayfly::transfer {

// Limits the average number of units per second. A caller that has exceeded the limit waits.
class Allowance {
 public:
  explicit Allowance(double units_max) : units_max_(units_max) {}  // per second; 0: no limit
  void use(double units, const Interruption& interruption);

 private:
  const double units_max_;
  engine::Mutex mutex_;
  std::chrono::nanoseconds free_at_ GUARDED_BY(mutex_){};
};

class Endpoint {
 public:
  // `given.endpoint` is a URL, or "aws" for DynamoDB itself, even if the environment names another endpoint.
  // Without a key, endpoints other than AWS's are called with a dummy key, because most of them accept any
  // key. The error is a human-readable sentence.
  static Expected<std::unique_ptr<Endpoint>, std::string> open(const aws::Given& given,
                                                               const Interruption& interruption);
  Endpoint(std::unique_ptr<aws::Client> client, const Interruption& interruption)
      : client_(std::move(client)), interruption_(interruption) {}

  // Returns the answer's body. After an interruption, fails with "Interrupted".
  Expected<std::string, aws::Failure> call(std::string_view operation, const std::string& body);
  // Waits for the pause that precedes the retry `attempt` (2 or more). An interruption ends the wait.
  void pause_before(int attempt) const;

  [[nodiscard]] const std::string& region() const { return client_->options().region; }
  [[nodiscard]] const std::string& where() const { return client_->options().endpoint; }  // for messages
  [[nodiscard]] const Interruption& interruption() const { return interruption_; }

 private:
  const std::unique_ptr<aws::Client> client_;
  const Interruption& interruption_;
};

}  // namespace mayfly::transfer
