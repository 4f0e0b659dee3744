#include "http/access/keys.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <system_error>
#include <utility>

#include "http/requests/request.h"
#include "os/file.h"

namespace mayfly::http {

namespace {

constexpr std::size_t file_bytes_max = 1024 * 1024;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Trims spaces, and the '\r' that ends a line in a Windows file.
std::string_view stripped(std::string_view text) {
  if (text.ends_with('\r')) text.remove_suffix(1);
  return trim(text);
}

}  // namespace

std::optional<Key> key_of_environment() {
  Key key{.id = variable("AWS_ACCESS_KEY_ID"),
          .secret = variable("AWS_SECRET_ACCESS_KEY"),
          .session_token = variable("AWS_SESSION_TOKEN")};
  if (key.id.empty() || key.secret.empty()) return std::nullopt;
  return key;
}

Expected<Keys, std::string> Keys::parse(std::string_view text) {
  Keys keys;
  Key key;
  std::string profile;
  const auto fail = [](std::size_t line, const std::string& what) {
    return Unexpected{"line " + std::to_string(line) + " " + what};
  };
  const auto end_profile = [&]() -> Expected<void, std::string> {
    Key ended = std::exchange(key, {});
    if (ended.id.empty() && ended.secret.empty()) return {};
    if (ended.id.empty() || ended.secret.empty()) {
      return Unexpected{"profile " + profile + " has no " +
                        (ended.id.empty() ? "aws_access_key_id" : "aws_secret_access_key")};
    }
    std::string id = ended.id;
    const auto [place, added] = keys.keys_.emplace(id, ended);
    const bool same =
        place->second.secret == ended.secret && place->second.session_token == ended.session_token;
    if (!added && !same) return Unexpected{"the key " + id + " appears twice with different secrets"};
    return {};
  };
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(whole.size() + 1, text.size()));
    const std::string_view line = stripped(whole);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '[') {
      if (!line.ends_with(']')) return fail(number, "is not a profile name such as [default]");
      CHECK_OK(end_profile());
      profile = line.substr(1, line.size() - 2);
      continue;
    }
    const auto equals = line.find('=');
    // The message does not show the line, because it may be a secret.
    if (equals == std::string_view::npos) return fail(number, "is not a setting such as name = value");
    const std::string name = lower_case(stripped(line.substr(0, equals)));
    const std::string_view value = stripped(line.substr(equals + 1));
    std::string* const setting = name == "aws_access_key_id"       ? &key.id
                                 : name == "aws_secret_access_key" ? &key.secret
                                 : name == "aws_session_token"     ? &key.session_token
                                                                   : nullptr;
    if (setting == nullptr) continue;
    if (!setting->empty()) return fail(number, "sets " + name + " again");
    *setting = value;
  }
  CHECK_OK(end_profile());
  if (keys.keys_.empty()) return Unexpected{std::string("the file contains no keys")};
  return keys;
}

Expected<Keys, std::string> Keys::from_file(const std::string& path) {
  const auto fail = [&](const std::string& why) {
    return Unexpected{"cannot use the keys in " + path + ": " + why};
  };
  std::error_code error;
  const os::File file = os::File::open(path, {.follows_links = true, .waits = true}, error);
  if (error) return fail(error.message());
  if (file.facts(error).kind == os::Kind::directory) return fail("the path is a directory");
  std::string text;
  while (!error && text.size() <= file_bytes_max) {
    std::array<char, 64 * 1024> piece;
    const std::size_t got = file.read(piece, error);
    if (got == 0) break;
    text.append(piece.data(), got);
  }
  if (error) return fail(error.message());
  if (text.size() > file_bytes_max) return fail("the file is longer than 1 MB");
  auto keys = parse(text);
  if (!keys) return fail(keys.error());
  return keys;
}

Expected<std::shared_ptr<const Keys>, std::string> Keys::required(bool asked, const std::string& path) {
  if (!asked) {
    if (path.empty()) return std::shared_ptr<const Keys>();
    // A user who configures keys expects them to be checked.
    return Unexpected{"the keys in " + path + " have no effect without --require-signature"};
  }
  if (!path.empty()) {
    TRY(Keys keys, from_file(path));
    return std::make_shared<const Keys>(std::move(keys));
  }
  if (auto key = key_of_environment()) return std::make_shared<const Keys>(*std::move(key));
  return Unexpected{
      std::string("--require-signature needs keys: name a file of keys with --keys, or set "
                  "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")};
}

const Key* Keys::find(std::string_view id) const {
  const auto found = keys_.find(id);
  return found == keys_.end() ? nullptr : &found->second;
}

}  // namespace mayfly::http
