// A client for DynamoDB's API over HTTP. Like AWS's SDKs, it signs requests, keeps connections open and
// retries.
//
//   auto client = Client::connect({.endpoint = "http://127.0.0.1:8000"});
//   if (!client) return fail(client.error());       // "no AWS credentials. Set …"
//   auto answer = (*client)->call("DescribeTable", R"({"TableName":"carts"})");
//   if (!answer && answer.error().name == "ResourceNotFoundException") …
//
// The client builds on http/outbound/client and http/outbound/signer. Rejected: AWS's SDK for C++. It is not
// in Debian 12, and it brings libcurl, AWS's C runtime (a dozen libraries) and some megabytes. The four files
// in this directory do the same work.
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
#include "compat/json/json_tree.h"
#include "engine/base/clock.h"
#include "engine/base/expected.h"
#include "engine/base/random.h"

namespace mayfly::http {
class Connections;
struct ClientAnswer;
struct ClientRequest;
}  // namespace mayfly::http

namespace mayfly::aws {

using Json = json::Tree;

struct Failure {
  // AWS's name without its namespace: "ConditionalCheckFailedException". Other names:
  // - "Unreachable", "TimedOut", "CutShort" and "Interrupted" if the answer did not arrive completely;
  // - "NotAnAnswer" if the answer was malformed;
  // - "NoCredentials" and "Unusable" if the request could not be sent.
  std::string name;
  std::string message;
  int status = 0;          // 0: the server did not answer
  bool retryable = false;  // another attempt might succeed; all allowed attempts have been made
  bool throttled = false;
  std::shared_ptr<const Json> body{};  // the whole answer, with members such as Item and CancellationReasons;
                                       // nullptr: it was not JSON

  [[nodiscard]] std::string sentence() const;  // "ResourceNotFoundException: Requested resource not found"
};

// The time that an answer's Date header gave, in whole seconds, and the host's times at which the request was
// sent and the answer arrived.
struct HeardDate {
  engine::Instant asked, heard, date;
};

struct ClientOptions {
  std::string endpoint;                      // http:// or https://
  std::string region;                        // the region that requests are signed for
  std::shared_ptr<Credentials> credentials;  // never nullptr
  std::string ca_file;  // trusted certificates for https://; empty: the system's certificates
  std::string account;  // for Mayfly: twelve digits; empty: the key's account
  int attempts_max = 3;
  std::chrono::milliseconds attempt_time_max{10'000};
  // Sleeps between attempts. Returns false to give up without another attempt. If this function is empty, the
  // client itself sleeps.
  std::function<bool(std::chrono::milliseconds)> wait{};
  std::stop_token stop{};  // a stop request ends attempts in progress and prevents further ones
  std::function<void(const HeardDate&)> hear_date{};  // called for each answer with a Date, on any thread
  std::shared_ptr<engine::Random> random{};           // nullptr: the system's random numbers
};

// Reads the client's options from `given`, the environment and the profile. The error is a human-readable
// sentence.
Expected<ClientOptions, std::string> client_options(const Given& given,
                                                    const Environment& environment = variable_of_process);

// Thread-safe. Each concurrent call uses its own connection.
class Client {
 public:
  static Expected<std::unique_ptr<Client>, std::string> open(ClientOptions options);
  static Expected<std::unique_ptr<Client>, std::string> connect(const Given& given);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Performs one operation, such as "Query". Retries it if necessary, and waits for the answer.
  Expected<Json, Failure> call(std::string_view operation, const Json& body);
  Expected<Json, Failure> call(std::string_view operation, const std::string& body);
  // Returns the body as text, for callers that read more items than a JSON tree should hold.
  Expected<std::string, Failure> call_text(std::string_view operation, const std::string& body);
  // Makes one call to Mayfly's control API, such as "GET" and "/_mayfly/clock".
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
  std::atomic<engine::Instant> ahead_ms_{0};  // how far the endpoint's clock is ahead; set when a signature
                                              // is rejected because the host's clock is off
};

// Parses the text of a Date header, "Tue, 15 Nov 1994 08:12:31 GMT". nullopt if it is malformed.
std::optional<engine::Instant> parse_http_date(std::string_view text);

}  // namespace mayfly::aws
