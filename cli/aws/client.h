// DynamoDB's API over HTTP, asked as AWS's SDKs ask it: signed, on connections that are kept, tried again.
//
//   auto client = Client::connect({.endpoint = "http://127.0.0.1:8000"});
//   if (!client) return fail(client.error());       // "there are no AWS credentials: …"
//   auto answer = (*client)->call("DescribeTable", R"({"TableName":"carts"})");
//   if (!answer && answer.error().name == "ResourceNotFoundException") …
//
// Our own, on http/client and http/signer: AWS's SDK for C++ is not in Debian 12, and brings libcurl, its own
// C runtime of a dozen libraries and some megabytes; a client that signs, keeps connections and tries again
// is these four files.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>
#include <string_view>

#include "cli/aws/credentials.h"
#include "cli/aws/retry.h"
#include "cli/aws/settings.h"
#include "compat/wire/json_tree.h"
#include "engine/clock.h"
#include "engine/expected.h"
#include "engine/random.h"

namespace mayfly::http {
class Connections;
struct ClientAnswer;
struct ClientRequest;
}  // namespace mayfly::http

namespace mayfly::aws {

using Json = json::Tree;

struct Failure {
  // AWS's, without its namespace: "ConditionalCheckFailedException". Where there was no answer:
  // "Unreachable", "TimedOut", "CutShort", "Interrupted"; where it was not one: "NotAnAnswer"; where it could
  // not be asked: "NoCredentials", "Unusable".
  std::string name;
  std::string message;
  int status = 0;          // 0: there was no answer
  bool retryable = false;  // one more attempt might go better; those that there may be were made
  bool throttled = false;
  std::shared_ptr<const Json>
      body{};  // all of the answer: Item, CancellationReasons; nothing: it was no JSON

  [[nodiscard]] std::string sentence() const;  // "ResourceNotFoundException: Requested resource not found"
};

// When an answer said what time it is there, in whole seconds, and when we asked and heard.
struct HeardDate {
  engine::Instant asked, heard, date;
};

struct ClientOptions {
  std::string endpoint;                      // http:// or https://
  std::string region;                        // that requests are signed for
  std::shared_ptr<Credentials> credentials;  // never nothing
  std::string ca_file;  // whose certificates https:// may show; empty: the system's issuers'
  std::string account;  // on Mayfly: whose tables, twelve digits; empty: the key's
  int attempts_max = 3;
  std::chrono::milliseconds attempt_time_max{10'000};
  // Sleeps between attempts. False: no further attempt is wanted. Nothing: just sleeps.
  std::function<bool(std::chrono::milliseconds)> wait{};
  std::stop_token stop{};  // ends the attempts in progress at once, and those to come
  std::function<void(const HeardDate&)> hear_date{};  // told of every answer, from whatever thread
  std::shared_ptr<engine::Random> random{};           // nothing: the system's
};

// What options, environment and profile say; the error is a sentence for people.
Expected<ClientOptions, std::string> client_options(const Given& given,
                                                    const Environment& environment = variable_of_process);

// Thread-safe: as many connections as threads ask at once.
class Client {
 public:
  static Expected<std::unique_ptr<Client>, std::string> open(ClientOptions options);
  static Expected<std::unique_ptr<Client>, std::string> connect(const Given& given);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // One operation: its name, "Query", and its body. Waits for the answer, through all attempts.
  Expected<Json, Failure> call(std::string_view operation, const Json& body);
  Expected<Json, Failure> call(std::string_view operation, const std::string& body);
  // The answer as it came: for who reads more items than a tree should be made of.
  Expected<std::string, Failure> call_text(std::string_view operation, const std::string& body);
  // One call of Mayfly's control API: "GET", "/_mayfly/clock".
  Expected<Json, Failure> call_control(const std::string& method, const std::string& path,
                                       const std::string& body = {});

  [[nodiscard]] const ClientOptions& options() const { return options_; }
  [[nodiscard]] std::uint64_t attempts() const { return attempts_.load(std::memory_order_relaxed); }

 private:
  explicit Client(ClientOptions options, std::unique_ptr<http::Connections> connections);
  Expected<std::string, Failure> attempt(const http::ClientRequest& request);
  Expected<std::string, Failure> read(http::ClientAnswer answer, const HeardDate& date);
  Expected<std::string, Failure> call_again_and_again(const http::ClientRequest& request);

  const ClientOptions options_;
  const std::unique_ptr<http::Connections> connections_;
  const std::shared_ptr<engine::Random> random_;
  RetryQuota quota_;
  std::atomic<std::uint64_t> attempts_{0};
  std::atomic<engine::Instant> ahead_ms_{0};  // how far the endpoint's clock is, where ours was refused
};

// "Tue, 15 Nov 1994 08:12:31 GMT", as a Date header says it. Nothing: the text is none.
std::optional<engine::Instant> parse_http_date(std::string_view text);

}  // namespace mayfly::aws
