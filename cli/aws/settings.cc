#include "cli/aws/settings.h"

#include <cstdlib>
#include <fstream>
#include <utility>

#include "engine/base/whole_number.h"
#include "http/requests/request.h"
#include "os/path.h"

namespace mayfly::aws {

namespace {

constexpr std::size_t profile_file_bytes_max = 1024 * 1024;

std::string_view without_spaces(std::string_view text) {
  if (text.ends_with('\r')) text.remove_suffix(1);
  return http::trim(text);
}

// Returns the text of the file, or nullopt if the file cannot be opened.
Expected<std::optional<std::string>, std::string> text_of(const std::string& path) {
  std::ifstream file(os::path_of(path), std::ios::binary);
  if (!file) return std::optional<std::string>();
  std::string text(profile_file_bytes_max + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > profile_file_bytes_max) return Unexpected{path + " is larger than 1 MB"};
  return std::optional<std::string>(std::move(text));
}

}  // namespace

std::string variable_of_process(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<std::map<std::string, std::string>> profile_in(std::string_view text, std::string_view profile,
                                                             std::string_view prefix) {
  std::optional<std::map<std::string, std::string>> found;
  bool inside = false;
  while (!text.empty()) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(whole.size() + 1, text.size()));
    // Indented lines belong to the setting above them, such as s3 or services.
    if (whole.starts_with(' ') || whole.starts_with('\t')) continue;
    const std::string_view line = without_spaces(whole);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '[') {
      std::string_view name = without_spaces(line.substr(1, line.find(']') - 1));
      const bool prefixed = !prefix.empty() && name.starts_with(prefix);
      if (prefixed) name = without_spaces(name.substr(prefix.size()));
      inside = name == profile && (prefixed || prefix.empty() || profile == "default");
      if (inside && !found) found.emplace();
      continue;
    }
    const auto equals = line.find('=');
    if (!inside || equals == std::string_view::npos) continue;
    std::string_view value = without_spaces(line.substr(equals + 1));
    for (const char* comment : {" #", " ;", "\t#", "\t;"}) value = value.substr(0, value.find(comment));
    (*found)[http::lower_case(without_spaces(line.substr(0, equals)))] = without_spaces(value);
  }
  return found;
}

Expected<Settings, std::string> Settings::read(Given given, Environment environment) {
  Settings settings(std::move(given), std::move(environment));
  for (const std::string& name : {settings.given_.profile, settings.variable("AWS_PROFILE"),
                                  settings.variable("AWS_DEFAULT_PROFILE")}) {
    if (name.empty()) continue;
    settings.profile_ = name;
    settings.profile_named_ = true;
    break;
  }
  const auto path_of = [&](const char* variable, const char* file) {
    const std::string named = settings.variable(variable);
    return named.empty() ? settings.variable("HOME") + "/.aws/" + file : named;
  };
  const std::string credentials_path = path_of("AWS_SHARED_CREDENTIALS_FILE", "credentials");
  const std::string config_path = path_of("AWS_CONFIG_FILE", "config");
  bool found = false;
  const auto take = [&](const std::string& path, std::string_view prefix,
                        Values& values) -> Expected<void, std::string> {
    TRY(const auto text, text_of(path));
    if (!text) return {};
    auto profile = profile_in(*text, settings.profile_, prefix);
    if (!profile) return {};
    found = true;
    values = *std::move(profile);
    return {};
  };
  CHECK_OK(take(credentials_path, "", settings.credentials_));
  CHECK_OK(take(config_path, "profile ", settings.config_));
  if (settings.profile_named_ && !found)
    return Unexpected{"there is no profile '" + settings.profile_ + "' in " + credentials_path + " or " +
                      config_path};
  return settings;
}

std::string Settings::profile_value(const std::string& name) const {
  for (const Values* values : {&credentials_, &config_})
    if (const auto found = values->find(name); found != values->end()) return found->second;
  return {};
}

std::string Settings::named_endpoint() const {
  if (!given_.endpoint.empty()) return given_.endpoint;
  if (http::lower_case(variable("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS")) == "true") return {};
  for (const char* name : {"AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL"})
    if (std::string url = variable(name); !url.empty()) return url;
  return profile_value("endpoint_url");
}

std::string Settings::named_region() const {
  if (!given_.region.empty()) return given_.region;
  for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION"})
    if (std::string region = variable(name); !region.empty()) return region;
  return profile_value("region");
}

Expected<std::string, std::string> Settings::region() const {
  std::string region = named_region();
  if (region.empty()) {
    const std::string endpoint = named_endpoint();
    if (endpoint.empty() || endpoint.find(".amazonaws.com") != std::string::npos)
      return Unexpected{std::string("no region is set. Use --region, AWS_REGION or the profile's region")};
    region = "us-east-1";
  }
  if (region.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos)
    return Unexpected{"the region must be a name such as eu-west-1, got '" + region + "'"};
  return region;
}

Expected<std::string, std::string> Settings::endpoint() const {
  if (std::string endpoint = named_endpoint(); !endpoint.empty()) return endpoint;
  TRY(const std::string name, region());
  return "https://dynamodb." + name + ".amazonaws.com" + (name.starts_with("cn-") ? ".cn" : "");
}

int Settings::attempts_max() const {
  for (const std::string& text : {variable("AWS_MAX_ATTEMPTS"), profile_value("max_attempts")})
    if (const auto number = engine::whole_number<int>(text); number && *number > 0) return *number;
  return 3;
}

}  // namespace mayfly::aws
