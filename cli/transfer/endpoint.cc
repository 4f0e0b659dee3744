#include "cli/transfer/endpoint.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "cli/aws/retry.h"
#include "compat/outbound/url.h"
#include "engine/base/random.h"
#include "engine/base/stopwatch.h"

namespace mayfly::transfer {
namespace {

constexpr int attempts_max = 60;  // about ten minutes
constexpr int attempts_to_connect_max = 8;
constexpr int attempts_in_time_max = 2;
constexpr std::chrono::seconds attempt_time_max{60};  // a batch can be large and the network slow

// Reads a variable of the process's environment, but ignores configured endpoints.
std::string variable_of_aws(const char* name) {
  return name == std::string_view("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") ? "true"
                                                                         : aws::variable_of_process(name);
}

// Reads a variable of the process's environment, but returns a dummy value for the variables of the access
// key.
std::string variable_of_anybody(const char* name) {
  const std::string_view asked = name;
  if (asked == "AWS_ACCESS_KEY_ID" || asked == "AWS_SECRET_ACCESS_KEY") return "mayfly";
  return aws::variable_of_process(name);
}

bool is_aws(std::string_view url) {
  const auto parsed =
      compat::outbound::Url::parse(std::string(url), compat::outbound::Schemes::http_and_https);
  return parsed && (parsed->host.ends_with(".amazonaws.com") || parsed->host.ends_with(".amazonaws.com.cn"));
}

}  // namespace

void Allowance::use(double units, const Interruption& interruption) {
  if (units_max_ <= 0) return;
  static const engine::Stopwatch since_the_start;
  const std::chrono::nanoseconds now = since_the_start.elapsed();
  std::chrono::nanoseconds wait{};
  {
    const engine::Lock lock(mutex_);
    free_at_ = std::max(free_at_, now) + std::chrono::nanoseconds(std::int64_t(units / units_max_ * 1e9));
    wait = free_at_ - now;
  }
  interruption.pause(std::chrono::ceil<std::chrono::milliseconds>(wait));
}

Expected<std::unique_ptr<Endpoint>, std::string> Endpoint::open(const aws::Given& given,
                                                                const Interruption& interruption) {
  aws::Given asked = given;
  const bool named_aws = asked.endpoint == "aws";
  if (named_aws) asked.endpoint.clear();
  TRY(auto options,
      aws::client_options(asked, named_aws ? aws::Environment(variable_of_aws) : aws::variable_of_process));
  if (auto key = options.credentials->key(); !key) {
    if (!given.profile.empty() || is_aws(options.endpoint)) return Unexpected{std::move(key.error())};
    TRY(options, aws::client_options(asked, variable_of_anybody));
  }
  options.attempts_max = 1;  // this class retries instead
  options.attempt_time_max = attempt_time_max;
  options.stop = interruption.stop_token();
  TRY(auto client, aws::Client::open(std::move(options)));
  return std::make_unique<Endpoint>(std::move(client), interruption);
}

Expected<std::string, aws::Failure> Endpoint::call(std::string_view operation, const std::string& body) {
  for (int attempt = 1;; ++attempt) {
    if (interruption_.is_wanted())
      return Unexpected{aws::Failure{.name = "Interrupted", .message = "by a signal"}};
    auto answer = client_->call_text(operation, body);
    if (answer || !answer.error().retryable) return answer;
    const bool was_late = answer.error().name == "TimedOut";
    if (attempt >= (was_late                     ? attempts_in_time_max
                    : answer.error().status == 0 ? attempts_to_connect_max
                                                 : attempts_max))
      return answer;
    pause_before(attempt + 1);
  }
}

void Endpoint::pause_before(int attempt) const {
  engine::SystemRandom random;
  interruption_.pause(aws::pause_before(attempt, random));
}

}  // namespace mayfly::transfer
