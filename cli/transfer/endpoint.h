// A DynamoDB endpoint asked with patience: what it is too busy for is asked again, ever more slowly, until it
// is answered or nobody wants it any more, and what it costs is kept below a bound.
//
//   auto endpoint = Endpoint::open({.endpoint = "http://127.0.0.1:8000"}, interruption);
//   auto answer = (*endpoint)->call("DescribeTable", R"({"TableName":"carts"})");
//   if (!answer) fail(answer.error().sentence());   // "ResourceNotFoundException: Requested resource not
//   found"
//
// Thread-safe.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "cli/aws/client.h"
#include "cli/transfer/interruption.h"
#include "engine/expected.h"
#include "engine/mutex.h"

namespace mayfly::transfer {

// So many units a second, on average; what was used up beyond that is waited for.
class Allowance {
 public:
  explicit Allowance(double units_max) : units_max_(units_max) {}  // 0: no bound
  void use(double units, const Interruption& interruption);

 private:
  const double units_max_;
  engine::Mutex mutex_;
  std::chrono::nanoseconds free_at_ GUARDED_BY(mutex_){};
};

class Endpoint {
 public:
  // `given.endpoint`: a URL, or "aws", which is DynamoDB itself whatever endpoint the environment names. A
  // server that is not AWS's is asked with any key where there is none, as most take any. The error is a
  // sentence.
  static Expected<std::unique_ptr<Endpoint>, std::string> open(const aws::Given& given,
                                                               const Interruption& interruption);
  Endpoint(std::unique_ptr<aws::Client> client, const Interruption& interruption)
      : client_(std::move(client)), interruption_(interruption) {}

  // The answer's body. An end that is wanted is the failure "Interrupted".
  Expected<std::string, aws::Failure> call(std::string_view operation, const std::string& body);

  [[nodiscard]] const std::string& region() const { return client_->options().region; }
  [[nodiscard]] const std::string& where() const { return client_->options().endpoint; }  // for sentences
  [[nodiscard]] const Interruption& interruption() const { return interruption_; }

 private:
  const std::unique_ptr<aws::Client> client_;
  const Interruption& interruption_;
};

// The pause before the attempt with this number, from 2 on.
std::chrono::milliseconds pause_before(int attempt);

}  // namespace mayfly::transfer
