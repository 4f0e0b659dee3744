#include "cli/aws/credentials.h"

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "compat/calls/times.h"
#include "compat/json/json_tree.h"
#include "compat/outbound/url.h"
#include "http/outbound/client.h"
#include "os/path.h"

namespace mayfly::aws {

namespace {

using compat::outbound::Schemes;
using compat::outbound::Url;

constexpr engine::Instant renewed_before_ms = 5 * 60 * 1000;
constexpr std::chrono::seconds container_answer_time_max{5};
constexpr std::size_t program_bytes_max = 64 * 1024, token_bytes_max = 16 * 1024;
constexpr const char* ecs_host = "http://169.254.170.2";

std::string first_of(std::string one, std::string other) { return one.empty() ? std::move(other) : one; }

}  // namespace

bool may_have_credentials(const std::string& text) {
  const auto url = Url::parse(text, Schemes::http_and_https);
  if (!url) return false;
  if (url->tls) return true;
  const std::string& host = url->host;
  // Also checks that the host consists only of digits and dots, because "127.evil.test" is a name, not an
  // address.
  const bool loopback =
      host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos;
  return loopback || host == "localhost" || host == "::1" || host == "169.254.170.2" ||
         host == "169.254.170.23" || host == "fd00:ec2::23";
}

Expected<http::Key, std::string> Credentials::key() {
  const engine::Lock lock(mutex_);
  const engine::Instant now = engine::SystemClock().now();
  if (found_ && (!found_->ends || now < *found_->ends - renewed_before_ms)) return found_->key;
  auto found = find();
  if (!found) {
    if (found_ && now < *found_->ends) return found_->key;
    return Unexpected{std::move(found.error())};
  }
  found_ = *std::move(found);
  return found_->key;
}

void Credentials::forget() {
  const engine::Lock lock(mutex_);
  found_.reset();
}

Expected<Credentials::Found, std::string> Credentials::find() const {
  const auto key_of = [](std::string id, std::string secret, std::string token) -> std::optional<Found> {
    if (id.empty() || secret.empty()) return std::nullopt;
    return Found{{std::move(id), std::move(secret), std::move(token)}, std::nullopt};
  };
  if (settings_.given().profile.empty()) {
    if (auto key =
            key_of(settings_.variable("AWS_ACCESS_KEY_ID"), settings_.variable("AWS_SECRET_ACCESS_KEY"),
                   settings_.variable("AWS_SESSION_TOKEN")))
      return *std::move(key);
  }
  if (auto key = key_of(settings_.profile_value("aws_access_key_id"),
                        settings_.profile_value("aws_secret_access_key"),
                        settings_.profile_value("aws_session_token")))
    return *std::move(key);
  if (const std::string command = settings_.profile_value("credential_process"); !command.empty())
    return of_program(command);
  const std::string relative = settings_.variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const std::string full = settings_.variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (!relative.empty() || !full.empty()) return of_container(relative.empty() ? full : ecs_host + relative);
  for (const char* other : {"role_arn", "sso_session", "sso_start_url", "web_identity_token_file"}) {
    if (settings_.profile_value(other).empty()) continue;
    return Unexpected{"profile " + settings_.profile() + " has " + other +
                      ", which is not supported; use credential_process = aws configure "
                      "export-credentials --profile NAME"};
  }
  return Unexpected{std::string(
      "no AWS credentials. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (Mayfly accepts any values) or "
      "AWS_PROFILE")};
}

Expected<Credentials::Found, std::string> Credentials::found_in(std::string_view text, const char* token_name,
                                                                const std::string& where) {
  const auto tree = json::parse_tree(text);
  const auto member = [&](const char* name) {
    return std::string(tree ? json::string_member(*tree, name).value_or("") : "");
  };
  Found found{{member("AccessKeyId"), member("SecretAccessKey"), first_of(member(token_name), "")}, {}};
  if (found.key.id.empty() || found.key.secret.empty()) {
    const std::string message = first_of(member("message"), member("Message"));
    return Unexpected{where + " returned no credentials" + (message.empty() ? "" : ": " + message)};
  }
  if (const std::string ends = member("Expiration"); !ends.empty()) {
    found.ends = compat::control::parse_time(ends);
    if (!found.ends) return Unexpected{where + " returned an invalid Expiration: " + ends};
  }
  return found;
}

Expected<Credentials::Found, std::string> Credentials::of_program(const std::string& command) const {
  const std::string where = "the credential_process of profile " + settings_.profile();
  std::FILE* const pipe = ::popen(command.c_str(), "re");
  if (pipe == nullptr) return Unexpected{where + " could not be started"};
  std::string text(program_bytes_max, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), pipe));
  if (::pclose(pipe) != 0) return Unexpected{where + " failed"};
  return found_in(text, "SessionToken", where);
}

Expected<Credentials::Found, std::string> Credentials::of_container(const std::string& text) const {
  if (!may_have_credentials(text))
    return Unexpected{
        "AWS_CONTAINER_CREDENTIALS_FULL_URI must use https:// or an address of this machine, ECS "
        "or EKS, got '" +
        text + "'"};
  Url url = *Url::parse(text, Schemes::http_and_https);
  std::string token = settings_.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  if (const std::string path = settings_.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); !path.empty()) {
    std::ifstream file(os::path_of(path), std::ios::binary);
    token.assign(token_bytes_max, '\0');
    file.read(token.data(), static_cast<std::streamsize>(token.size()));
    token.resize(static_cast<std::size_t>(file.gcount()));
    while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
    if (token.empty()) return Unexpected{path + " has no token"};
  }
  // A token with two lines would become two headers.
  if (token.find_first_of("\r\n") != std::string::npos)
    return Unexpected{std::string("AWS_CONTAINER_AUTHORIZATION_TOKEN must be one line")};
  http::ClientRequest request{
      .method = "GET", .path = url.target, .headers = {{"Accept", "application/json"}}};
  if (!token.empty()) request.headers.emplace_back("Authorization", token);
  const std::string where = url.text;
  auto answer = http::Connections(std::move(url), {}).ask(request, container_answer_time_max);
  if (!answer) return Unexpected{"cannot read the container's credentials: " + answer.error().sentence};
  if (answer->status != 200)
    return Unexpected{where + " returned HTTP status " + std::to_string(answer->status) +
                      " instead of credentials"};
  return found_in(answer->body, "Token", where);
}

}  // namespace mayfly::aws
