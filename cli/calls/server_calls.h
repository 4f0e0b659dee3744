// Calls to a running Mayfly server: its control API, the operations of DynamoDB and its streams, and Lambda's
// Invoke, in one account and region.
//
//   auto server = ServerCalls::to({.url = "http://127.0.0.1:8000", .account = "000000000042"});
//   auto clock = server->control("GET", "/_mayfly/clock");
//   auto page = server->operate("Scan", {{"TableName", "carts"}});
//   if (!page && page.error().name == "ResourceNotFoundException") …
//
// Requests are signed with the environment's key (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) if there is one.
// Operations and invocations are always signed, because only a signature names their account and region.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/json/json_tree.h"
#include "compat/outbound/url.h"
#include "engine/base/clock.h"
#include "engine/base/expected.h"
#include "http/access/keys.h"
#include "http/outbound/client.h"

namespace mayfly::cli {

struct ServerPlace {
  std::string url = "http://127.0.0.1:8000";
  std::string ca_file;  // certificates to trust for https://; empty: the system's certificates
  std::string account;  // empty: the account of the environment's key, or 000000000000
  std::string region;   // empty: the server's default
};

struct CallFailure {
  std::string name;      // "ResourceNotFoundException", "mayfly#NotFound"; empty: the server did not answer
  std::string sentence;  // human-readable, without control characters
};

// The result of Lambda's Invoke.
struct Invoked {
  std::string payload;  // empty for the types Event and DryRun
  std::string error;    // X-Amz-Function-Error, such as "Unhandled"; empty: the function succeeded
};

// Returns the environment's key if it belongs to `account`. Otherwise returns a key that names the account.
// Servers that do not check signatures accept such a key.
http::Key key_for(const std::string& account, const std::optional<http::Key>& environment);

class ServerCalls {
 public:
  // The error is a human-readable sentence.
  static Expected<ServerCalls, std::string> to(const ServerPlace& place);

  // Sets a time limit for each later call. Without it, calls wait without limit.
  void limit_time(std::chrono::milliseconds time_max) { time_max_ = time_max; }

  // Makes one control call and returns the body of the answer. A status other than 200 is a failure.
  [[nodiscard]] Expected<std::string, CallFailure> control(const std::string& method, const std::string& path,
                                                           const std::string& body = {}) const;
  // Makes one control call whose answer is an endless stream. `piece` receives the body as it arrives; it
  // returns false to end the call.
  [[nodiscard]] Expected<std::string, CallFailure> follow(
      const std::string& path, const std::function<bool(std::string_view)>& piece) const;
  // Performs one operation of DynamoDB, or of another service that X-Amz-Target names. Numbers in the answer
  // keep their text (Decimals::as_written).
  Expected<json::Tree, CallFailure> operate(std::string_view operation, const json::Tree& body,
                                            std::string_view service = "DynamoDB_20120810");
  // Calls a function. `type` is RequestResponse, Event or DryRun, and `event` is JSON. A function that fails
  // is not a failure of the call.
  Expected<Invoked, CallFailure> invoke(std::string_view function, const std::string& type,
                                        std::string event);

  [[nodiscard]] const std::string& account() const { return account_; }
  // Returns --region or the server's default region, which is requested once. Returns "us-east-1" if the
  // server does not name its region.
  const std::string& region();

 private:
  ServerCalls(compat::outbound::Url url, const ServerPlace& place);
  [[nodiscard]] Expected<http::ClientAnswer, CallFailure> exchange(const http::ClientRequest& request) const;
  // Like exchange, but a status other than 200 is a failure.
  [[nodiscard]] Expected<std::string, CallFailure> ask(const http::ClientRequest& request) const;
  [[nodiscard]] http::ClientRequest control_request(const std::string& method, const std::string& path,
                                                    const std::string& body) const;
  void sign_for(http::ClientRequest& request, const http::Key& key, const std::string& region,
                const std::string& service = "dynamodb") const;

  compat::outbound::Url url_;
  std::string ca_file_, account_, region_;
  std::optional<http::Key> key_;
  std::optional<std::chrono::milliseconds> time_max_;
};

// Returns the names of the first `names_max` tables, in order.
Expected<std::vector<std::string>, CallFailure> table_names(ServerCalls& server, std::size_t names_max);

// Returns the member Table of DescribeTable's answer. The error is a human-readable sentence. If the table
// does not exist, the error suggests a table with a similar name.
Expected<json::Tree, std::string> describe_table(ServerCalls& server, const std::string& table);

// Returns the time of the account's clock. The error is a human-readable sentence.
Expected<engine::Instant, std::string> account_time(const ServerCalls& server);

}  // namespace mayfly::cli
