#include "cli/aws/client.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "compat/outbound/url.h"
#include "engine/base/whole_number.h"
#include "http/base/crc32.h"
#include "http/outbound/client.h"
#include "http/outbound/signer.h"

namespace mayfly::aws {

namespace {

using compat::outbound::Schemes;
using compat::outbound::Url;

// AWS rejects a signature whose time differs from AWS's own time by more than five minutes.
constexpr engine::Instant skew_to_correct_ms = 4 * 60 * 1000;

bool is_skew(std::string_view name) {
  return name == "InvalidSignatureException" || name == "RequestExpired" || name == "RequestTimeTooSkewed" ||
         name == "RequestInTheFuture" || name == "SignatureDoesNotMatch";
}

Failure no_answer(http::ExchangeFailure failure) {
  using Kind = http::ExchangeFailure::Kind;
  const auto named = [&](const char* name, bool retryable) {
    return Failure{.name = name, .message = std::move(failure.sentence), .retryable = retryable};
  };
  switch (failure.kind) {
    case Kind::timed_out: return named("TimedOut", true);
    case Kind::unreachable: return named("Unreachable", true);
    case Kind::cut_short: return named("CutShort", true);
    case Kind::refused: return named("NotAnAnswer", false);
    case Kind::stopped: return named("Interrupted", false);
    case Kind::unusable: break;
  }
  return named("Unusable", false);
}

// Returns the name in "com.amazonaws.dynamodb.v20120810#ThrottlingException" or
// "ThrottlingException:http://…".
std::string bare_name(std::string_view type) {
  if (const auto hash = type.rfind('#'); hash != std::string_view::npos) type.remove_prefix(hash + 1);
  return std::string(type.substr(0, type.find(':')));
}

Expected<Json, Failure> tree_of(const Expected<std::string, Failure>& answer) {
  if (!answer) return Unexpected{answer.error()};
  if (auto tree = json::parse_tree(*answer)) return *std::move(tree);
  return Unexpected{Failure{.name = "CutShort", .message = "the response is not JSON", .status = 200}};
}

}  // namespace

std::string Failure::sentence() const { return message.empty() ? name : name + ": " + message; }

std::optional<engine::Instant> parse_http_date(std::string_view text) {
  using namespace std::chrono;
  constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const std::string whole(text);
  std::array<char, 4> weekday{}, name{};
  unsigned day_number = 0, hour = 0, minute = 0, second = 0;
  int year_number = 0, end = 0;
  if (std::sscanf(whole.c_str(), "%3[A-Za-z], %2u %3[A-Za-z] %4d %2u:%2u:%2u GMT%n", weekday.data(),
                  &day_number, name.data(), &year_number, &hour, &minute, &second, &end) != 7 ||
      end != static_cast<int>(whole.size()))
    return std::nullopt;
  const auto place = months.find(name.data());
  const year_month_day date(year(year_number), month(static_cast<unsigned>(place / 3 + 1)), day(day_number));
  const bool is_month = name[2] != '\0' && place != months.npos && place % 3 == 0;
  if (!is_month || !date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  const sys_seconds time = sys_days(date) + hours(hour) + minutes(minute) + seconds(second);
  return duration_cast<milliseconds>(time.time_since_epoch()).count();
}

Expected<ClientOptions, std::string> client_options(const Given& given, const Environment& environment) {
  TRY(const Settings settings, Settings::read(given, environment));
  ClientOptions options{.ca_file = given.ca_file, .account = given.account};
  if (options.ca_file.empty()) options.ca_file = settings.variable("AWS_CA_BUNDLE");
  TRY(options.endpoint, settings.endpoint());
  TRY(options.region, settings.region());
  options.credentials = std::make_shared<Credentials>(settings);
  options.attempts_max = settings.attempts_max();
  return options;
}

Client::Client(ClientOptions options, std::unique_ptr<http::Connections> connections)
    : options_(std::move(options)),
      connections_(std::move(connections)),
      random_(options_.random ? options_.random : std::make_shared<engine::SystemRandom>()) {}

Client::~Client() = default;

Expected<std::unique_ptr<Client>, std::string> Client::open(ClientOptions options) {
  TRY(Url url, Url::parse(options.endpoint, Schemes::http_and_https));
  auto connections = std::make_unique<http::Connections>(std::move(url), options.ca_file);
  return std::unique_ptr<Client>(new Client(std::move(options), std::move(connections)));
}

Expected<std::unique_ptr<Client>, std::string> Client::connect(const Given& given) {
  TRY(ClientOptions options, client_options(given));
  return open(std::move(options));
}

Expected<Json, Failure> Client::call(std::string_view operation, const Json& body) {
  return call(operation, json::print(body));
}

Expected<Json, Failure> Client::call(std::string_view operation, const std::string& body) {
  return tree_of(call_text(operation, body));
}

Expected<std::string, Failure> Client::call_text(std::string_view operation, const std::string& body) {
  return call_again_and_again({.method = "POST",
                               .path = "/",
                               .content_type = "application/x-amz-json-1.0",
                               .headers = {{"X-Amz-Target", "DynamoDB_20120810." + std::string(operation)}},
                               .body = body,
                               .keeps_connection = true});
}

Expected<Json, Failure> Client::call_control(const std::string& method, const std::string& path,
                                             const std::string& body) {
  http::ClientRequest request{.method = method, .path = path, .body = body, .keeps_connection = true};
  if (method != "GET") request.content_type = "application/json";
  if (!options_.account.empty()) request.headers.emplace_back("X-Mayfly-Account", options_.account);
  request.headers.emplace_back("X-Mayfly-Region", options_.region);
  return tree_of(call_again_and_again(request));
}

Expected<std::string, Failure> Client::call_again_and_again(const http::ClientRequest& request) {
  for (int number = 1, taken = 0;; ++number) {
    auto answer = attempt(request);
    if (answer) {
      quota_.give_back(taken > 0 ? taken : RetryQuota::success);
      return answer;
    }
    const Failure& failure = answer.error();
    if (!failure.retryable || number >= options_.attempts_max) return answer;
    taken = failure.name == "TimedOut" ? RetryQuota::timeout_cost : RetryQuota::retry_cost;
    if (!quota_.take(taken)) return answer;
    const auto pause = pause_before(number + 1, *random_);
    if (options_.wait) {
      if (!options_.wait(pause)) return answer;
    } else {
      std::this_thread::sleep_for(pause);
    }
  }
}

Expected<std::string, Failure> Client::attempt(const http::ClientRequest& request) {
  auto key = options_.credentials->key();
  if (!key) return Unexpected{Failure{.name = "NoCredentials", .message = std::move(key.error())}};
  // If the ID of the access key is an account number, Mayfly uses this ID as the account.
  if (!options_.account.empty()) key->id = options_.account;
  static const engine::SystemClock clock;
  HeardDate date{.asked = clock.now()};
  http::ClientRequest signed_request = request;
  sign(signed_request, request.body, connections_->server(), *key, {"dynamodb", options_.region},
       date.asked + ahead_ms_.load(std::memory_order_relaxed));
  attempts_.fetch_add(1, std::memory_order_relaxed);
  auto answer = connections_->ask(signed_request, options_.attempt_time_max, options_.stop);
  if (!answer) return Unexpected{no_answer(std::move(answer.error()))};
  date.heard = clock.now();
  if (const auto said = parse_http_date(answer->header("Date"))) {
    date.date = *said;
    if (options_.hear_date) options_.hear_date(date);
  } else {
    date.date = date.heard;
  }
  return read(*std::move(answer), date);
}

Expected<std::string, Failure> Client::read(http::ClientAnswer answer, const HeardDate& date) {
  if (const auto sum = engine::whole_number<std::uint32_t>(answer.header("x-amz-crc32"));
      sum && answer.header("Content-Encoding").empty() && *sum != http::crc32(answer.body))
    return Unexpected{Failure{.name = "CutShort",
                              .message = "the response does not match its checksum (x-amz-crc32)",
                              .status = answer.status,
                              .retryable = true}};
  if (answer.status == 200) return std::move(answer.body);
  auto tree = json::parse_tree(answer.body);
  Failure failure{.status = answer.status};
  const auto member = [&](const char* name) {
    return std::string(tree ? json::string_member(*tree, name).value_or("") : "");
  };
  failure.name = bare_name(member("__type"));
  if (failure.name.empty()) failure.name = bare_name(answer.header("x-amzn-ErrorType"));
  failure.message = member("message");
  if (failure.message.empty()) failure.message = member("Message");
  if (failure.name.empty()) {
    failure.name = "HTTP status " + std::to_string(answer.status);
    if (failure.message.empty() && answer.status < 400) failure.message = http::status_sentence(answer);
  }
  failure.throttled = is_throttling(failure.name) || answer.status == 429;
  failure.retryable = is_retryable(failure.name, answer.status);
  if (tree) failure.body = std::make_shared<const Json>(*std::move(tree));
  const engine::Instant ahead = date.date - date.heard;
  if (is_skew(failure.name) && std::llabs(ahead - ahead_ms_.load()) > skew_to_correct_ms) {
    ahead_ms_ = ahead;
    failure.retryable = true;
  }
  if (failure.name == "ExpiredTokenException") {
    options_.credentials->forget();
    failure.retryable = true;
  }
  return Unexpected{std::move(failure)};
}

}  // namespace mayfly::aws
