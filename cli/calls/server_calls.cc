#include "cli/calls/server_calls.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "cli/base/nearest.h"
#include "compat/calls/times.h"
#include "compat/outbound/page_keys.h"
#include "compat/wire/percent_encoding.h"
#include "engine/values/region.h"
#include "http/access/sigv4.h"
#include "http/base/log.h"
#include "http/outbound/signer.h"

namespace mayfly::cli {
namespace {

constexpr std::string_view region_default = "us-east-1";

// Returns a message with the reason why the server did not answer and with advice for the user.
std::string unreachable(const std::string& reason) {
  std::string sentence = http::log::printable(reason) + ".";
  if (reason.find("Connection refused") != std::string::npos)
    sentence += " Start a server with 'mayfly serve', or name a running one with --url.";
  if (reason.find("certificate") != std::string::npos)
    sentence += " Name a certificate to trust with --ca-file.";
  return sentence;
}

CallFailure failure_of(const http::ClientAnswer& answer, bool has_key) {
  CallFailure failure;
  const auto tree = json::parse_tree(answer.body);
  const auto member = [&](const char* name) {
    return std::string(tree ? json::string_member(*tree, name).value_or("") : "");
  };
  failure.name = member("__type");
  if (failure.name.empty()) failure.name = answer.header("x-amzn-ErrorType");  // Lambda's errors
  if (const auto hash = failure.name.rfind('#');
      !failure.name.starts_with("mayfly#") && hash != std::string::npos)
    failure.name.erase(0, hash + 1);
  failure.sentence = member("message");
  if (failure.sentence.empty()) failure.sentence = member("Message");
  if (failure.sentence.empty()) failure.sentence = http::status_sentence(answer);
  failure.sentence = http::log::printable(failure.sentence);
  if (!has_key && (answer.status == 403 || failure.name == "UnrecognizedClientException"))
    failure.sentence += std::string(failure.sentence.ends_with('.') ? "" : ".") +
                        " The server checks signatures: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.";
  return failure;
}

Unexpected<CallFailure> no_answer(const std::string& reason) {
  return {CallFailure{.name = {}, .sentence = unreachable(reason)}};
}

Expected<std::string, CallFailure> body_of(http::ClientAnswer answer, bool has_key) {
  if (answer.status != 200) return Unexpected{failure_of(answer, has_key)};
  return std::move(answer.body);
}

Expected<json::Tree, CallFailure> tree_of(const Expected<std::string, CallFailure>& body) {
  if (!body) return Unexpected{body.error()};
  if (auto tree = json::parse_tree(*body, json::Decimals::as_written)) return *std::move(tree);
  return Unexpected{CallFailure{{}, "the server's response is not JSON. Is it a DynamoDB endpoint?"}};
}

}  // namespace

http::Key key_for(const std::string& account, const std::optional<http::Key>& environment) {
  return environment && http::account_of(environment->id) == account ? *environment
                                                                     : http::Key{account, "mayfly"};
}

ServerCalls::ServerCalls(compat::outbound::Url url, const ServerPlace& place)
    : url_(std::move(url)),
      ca_file_(place.ca_file),
      account_(place.account),
      region_(place.region),
      key_(http::key_of_environment()) {
  if (account_.empty()) account_ = key_ ? http::account_of(key_->id) : http::default_account;
}

Expected<ServerCalls, std::string> ServerCalls::to(const ServerPlace& place) {
  auto url = compat::outbound::Url::parse(place.url, compat::outbound::Schemes::http_and_https);
  if (!url)
    return Unexpected{"--url must be a URL such as http://127.0.0.1:8000, got '" +
                      http::log::printable(place.url) + "'"};
  return ServerCalls(*std::move(url), place);
}

void ServerCalls::sign_for(http::ClientRequest& request, const http::Key& key, const std::string& region,
                           const std::string& service) const {
  const std::string body = request.body;
  http::sign(request, body, url_, key, {service, region}, engine::SystemClock().now());
}

http::ClientRequest ServerCalls::control_request(const std::string& method, const std::string& path,
                                                 const std::string& body) const {
  http::ClientRequest request{.method = method, .path = path, .body = body};
  if (method != "GET") request.content_type = "application/json";
  request.headers.emplace_back("X-Mayfly-Account", account_);
  if (!region_.empty()) request.headers.emplace_back("X-Mayfly-Region", region_);
  // The server accepts a signature for any region. X-Mayfly-Region names the region of the call.
  if (key_) sign_for(request, *key_, region_.empty() ? std::string(region_default) : region_);
  return request;
}

Expected<http::ClientAnswer, CallFailure> ServerCalls::exchange(const http::ClientRequest& request) const {
  if (time_max_) {
    auto answer = http::Connections(url_, ca_file_).ask(request, *time_max_);
    if (!answer) return no_answer(answer.error().sentence);
    return *std::move(answer);
  }
  auto answer = http::fetch(url_, request, {}, ca_file_);
  if (!answer) return no_answer(answer.error());
  return *std::move(answer);
}

Expected<std::string, CallFailure> ServerCalls::ask(const http::ClientRequest& request) const {
  TRY(http::ClientAnswer answer, exchange(request));
  return body_of(std::move(answer), key_.has_value());
}

Expected<std::string, CallFailure> ServerCalls::control(const std::string& method, const std::string& path,
                                                        const std::string& body) const {
  return ask(control_request(method, path, body));
}

Expected<std::string, CallFailure> ServerCalls::follow(
    const std::string& path, const std::function<bool(std::string_view)>& piece) const {
  auto answer = http::fetch(url_, control_request("GET", path, {}), piece, ca_file_);
  if (!answer) return no_answer(answer.error());
  return body_of(*std::move(answer), key_.has_value());
}

Expected<json::Tree, CallFailure> ServerCalls::operate(std::string_view operation, const json::Tree& body,
                                                       std::string_view service) {
  http::ClientRequest request{
      .method = "POST",
      .path = "/",
      .content_type = "application/x-amz-json-1.0",
      .headers = {{"X-Amz-Target", std::string(service) + "." + std::string(operation)}},
      .body = json::print(body)};
  sign_for(request, key_for(account_, key_), region());
  return tree_of(ask(request));
}

Expected<Invoked, CallFailure> ServerCalls::invoke(std::string_view function, const std::string& type,
                                                   std::string event) {
  http::ClientRequest request{.method = "POST",
                              .path = "/2015-03-31/functions/",
                              .content_type = "application/json",
                              .headers = {{"X-Amz-Invocation-Type", type}},
                              .body = std::move(event)};
  compat::append_encoded(request.path, function, "");
  request.path += "/invocations";
  sign_for(request, key_for(account_, key_), region(), "lambda");
  TRY(http::ClientAnswer answer, exchange(request));
  if (answer.status < 200 || answer.status > 299) return Unexpected{failure_of(answer, key_.has_value())};
  std::string error(answer.header("X-Amz-Function-Error"));
  return Invoked{std::move(answer.body), std::move(error)};
}

const std::string& ServerCalls::region() {
  if (!region_.empty()) return region_;
  if (const auto answer = control("GET", "/_mayfly/"))
    if (const auto tree = json::parse_tree(*answer))
      region_ = json::string_member(*tree, "region").value_or("");
  // A server without a control API still answers "healthy: dynamodb.us-east-1.amazonaws.com ".
  if (constexpr std::string_view before = "healthy: dynamodb."; region_.empty())
    if (const auto health = ask({.method = "GET", .path = "/"}); health && health->starts_with(before))
      region_ = health->substr(before.size(), health->find('.', before.size()) - before.size());
  if (!engine::is_region(region_)) region_ = region_default;
  return region_;
}

Expected<std::vector<std::string>, CallFailure> table_names(ServerCalls& server, std::size_t names_max) {
  std::vector<std::string> names;
  json::Tree request = json::Tree::object();
  compat::outbound::PageKeys keys;
  while (names.size() < names_max) {
    TRY(const json::Tree page, server.operate("ListTables", request));
    const json::Tree* const listed = json::member(page, "TableNames");
    if (listed == nullptr || !listed->is_array()) break;
    for (const json::Tree& name : *listed)
      if (name.is_string() && names.size() < names_max) names.push_back(name.get<std::string>());
    const auto last = json::string_member(page, "LastEvaluatedTableName");
    if (!last || listed->empty()) break;
    if (!keys.advance(*last))
      return Unexpected{CallFailure{{}, "ListTables: " + std::string(compat::outbound::PageKeys::repeated)}};
    request["ExclusiveStartTableName"] = *last;
  }
  return names;
}

Expected<json::Tree, std::string> describe_table(ServerCalls& server, const std::string& table) {
  auto answer = server.operate("DescribeTable", {{"TableName", table}});
  if (answer) {
    if (const json::Tree* const described = json::member(*answer, "Table")) return *described;
    return Unexpected{std::string("DescribeTable's response has no Table. Is it a DynamoDB endpoint?")};
  }
  if (answer.error().name != "ResourceNotFoundException")
    return Unexpected{std::move(answer.error().sentence)};
  std::string sentence = "There is no table '" + http::log::printable(table) + "' in account " +
                         server.account() + ", region " + server.region() + ".";
  constexpr std::size_t candidates_max = 1000;
  if (const auto names = table_names(server, candidates_max))
    if (const std::string meant = nearest(table, *names); !meant.empty())
      sentence += " Did you mean '" + http::log::printable(meant) + "'?";
  return Unexpected{std::move(sentence)};
}

Expected<engine::Instant, std::string> account_time(const ServerCalls& server) {
  const auto answer = server.control("GET", "/_mayfly/clock");
  if (!answer) return Unexpected{answer.error().sentence};
  const auto tree = json::parse_tree(*answer);
  const auto now = tree ? json::string_member(*tree, "now") : std::nullopt;
  const auto time = now ? compat::control::parse_time(*now) : std::nullopt;
  if (!time) return Unexpected{std::string("the server did not report its account's time.")};
  return *time;
}

}  // namespace mayfly::cli
