#include "embed/options_json.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "compat/calls/clock_setting.h"
#include "compat/calls/times.h"
#include "compat/json/json_tree.h"
#include "embed/calls.h"
#include "engine/base/text.h"
#include "engine/schema/shards.h"
#include "engine/values/region.h"
#include "http/access/keys.h"
#include "http/base/log.h"
#include "http/outbound/invoker.h"

namespace mayfly::embed {
namespace {

// The reason why a value is invalid, such as "must be true or false", which is printed after the option's
// name. Empty if the value is valid.
using Problem = std::string;

Problem read_text(const json::Tree& value, std::string& text) {
  if (!value.is_string()) return "must be a string";
  text = value.get_ref<const std::string&>();
  // Functions that take a path or a name would truncate the text at the NUL.
  return text.find('\0') == std::string::npos ? "" : "must not contain a NUL character";
}

Problem read_flag(const json::Tree& value, bool& flag) {
  if (!value.is_boolean()) return "must be true or false";
  flag = value.get<bool>();
  return {};
}

template <class Whole>
Problem read_whole(const json::Tree& value, std::int64_t least, std::int64_t most, Whole& number) {
  const auto whole = json::integer(value);
  if (!whole || *whole < least || *whole > most)
    return "must be a whole number between " + std::to_string(least) + " and " + std::to_string(most);
  number = static_cast<Whole>(*whole);
  return {};
}

// Appends a string, or the strings of an array, to `texts`.
Problem read_texts(const json::Tree& value, std::vector<std::string>& texts) {
  if (value.is_string()) return read_text(value, texts.emplace_back());
  if (!value.is_array()) return "must be a string or an array of strings";
  for (const json::Tree& each : value)
    if (!read_text(each, texts.emplace_back()).empty()) return "must be a string or an array of strings";
  return {};
}

// Reads one or more NAME=VALUE strings.
Problem read_pairs(const json::Tree& value, std::map<std::string, std::string>& pairs) {
  std::vector<std::string> texts;
  if (Problem problem = read_texts(value, texts); !problem.empty()) return problem;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) return "must be NAME=VALUE, got '" + text + "'";
    pairs[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return {};
}

Problem read_url(const json::Tree& value, std::optional<compat::outbound::Url>& url) {
  std::string text;
  if (Problem problem = read_text(value, text); !problem.empty()) return problem;
  auto parsed = compat::outbound::Url::parse(text);
  if (!parsed) return "is invalid: " + parsed.error();
  url = *std::move(parsed);
  return {};
}

template <class Meaning, std::size_t count>
Problem read_word(const json::Tree& value,
                  const std::array<std::pair<std::string_view, Meaning>, count>& words, Meaning& meaning) {
  for (const auto& [word, means] : words) {
    if (value.is_string() && value.get_ref<const std::string&>() == word) {
      meaning = means;
      return {};
    }
  }
  return "must be one of " + engine::joined(words, ", ", [](const auto& each) { return each.first; });
}

// The values of the options, before they are combined into the emulator's options.
struct Opening {
  compat::EmulatorOptions emulator;
  std::optional<compat::outbound::Url> s3_endpoint;
  std::optional<http::log::Level> log_level;
};

template <class Settings>
struct Option {
  std::string_view name;
  Problem (*read)(const json::Tree& value, Settings& settings);
};

constexpr std::int64_t megabyte = 1024 * 1024, count_max = 1'000'000, day_seconds = 24 * 3600;
constexpr std::int64_t bytes_max = std::int64_t{1} << 50;

Problem read_ttl_delay(const json::Tree& value, Opening& opening) {
  engine::ExpiryMode& expiry = opening.emulator.database.expiry;
  constexpr std::int64_t most = 30 * day_seconds;
  std::int64_t least_seconds = 0, most_seconds = 0;
  if (!value.is_array() || value.size() != 2 || !read_whole(value[0], 0, most, least_seconds).empty() ||
      !read_whole(value[1], least_seconds, most, most_seconds).empty())
    return "must be a minimum and a maximum in seconds, for example [600,1680], up to 30 days";
  expiry.delay_ms_min = least_seconds * 1000;
  expiry.delay_ms_max = most_seconds * 1000;
  return {};
}

Problem read_clock(const json::Tree& value, Opening& opening) {
  const auto setting = value.is_string()
                           ? compat::control::parse_clock_setting(value.get_ref<const std::string&>())
                           : std::nullopt;
  if (!setting) return std::string(compat::control::clock_settings);
  opening.emulator.database.account_clocks.setting = *setting;
  return {};
}

Problem read_now(const json::Tree& value, Opening& opening) {
  auto& now = opening.emulator.database.account_clocks.now;
  if (value.is_string()) now = compat::control::parse_time(value.get_ref<const std::string&>());
  return now ? "" : "must be a time, for example 2031-01-01T00:00:00Z";
}

Problem read_functions(const json::Tree& value, Opening& opening) {
  std::map<std::string, std::string> urls;
  if (Problem problem = read_pairs(value, urls); !problem.empty()) return problem;
  for (const auto& [name, text] : urls) {
    auto url = compat::outbound::Url::parse(text);
    if (!url) return "is invalid: " + url.error();
    opening.emulator.triggers.functions[name] = {*std::move(url)};
  }
  return {};
}

using Tree = json::Tree;

constexpr Option<Opening> open_table[] = {
    {"data", [](const Tree& v, Opening& o) { return read_text(v, o.emulator.database.directory); }},
    {"fsync", [](const Tree& v, Opening& o) { return read_flag(v, o.emulator.database.fsync); }},
    {"region", [](const Tree& v, Opening& o) { return read_text(v, o.emulator.region); }},
    {"shared-regions", [](const Tree& v, Opening& o) { return read_flag(v, o.emulator.shared_regions); }},
    {"clock", &read_clock},
    {"now", &read_now},
    {"ttl-mode",
     [](const Tree& v, Opening& o) {
       using Kind = engine::ExpiryMode::Kind;
       constexpr std::array<std::pair<std::string_view, Kind>, 3> modes = {
           {{"exact", Kind::exact}, {"aws", Kind::aws}, {"manual", Kind::manual}}};
       return read_word(v, modes, o.emulator.database.expiry.kind);
     }},
    {"ttl-delay-seconds", &read_ttl_delay},
    {"ttl-seed",
     [](const Tree& v, Opening& o) { return read_whole(v, 0, INT64_MAX, o.emulator.database.expiry.seed); }},
    {"ttl-window-seconds",
     [](const Tree& v, Opening& o) {
       Problem problem = read_whole(v, 1, day_seconds, o.emulator.database.expiry_window_ms);
       o.emulator.database.expiry_window_ms *= 1000;
       return problem;
     }},
    {"ttl-cooldown-seconds",
     [](const Tree& v, Opening& o) {
       std::int64_t seconds = 0;
       Problem problem = read_whole(v, 0, day_seconds, seconds);
       o.emulator.ttl_cooldown = std::chrono::seconds(seconds);
       return problem;
     }},
    {"exact-recovery", [](const Tree& v, Opening& o) { return read_flag(v, o.emulator.exact_recovery); }},
    {"stream-shards",
     [](const Tree& v, Opening& o) {
       return read_whole(v, 1, engine::first_shards_max, o.emulator.database.stream_shards);
     }},
    {"table-delay-ms",
     [](const Tree& v, Opening& o) {
       std::int64_t milliseconds = 0;
       Problem problem = read_whole(v, 0, 3'600'000, milliseconds);
       o.emulator.table_delay = std::chrono::milliseconds(milliseconds);
       return problem;
     }},
    {"collection-bytes-max",
     [](const Tree& v, Opening& o) {
       return read_whole(v, 0, bytes_max, o.emulator.collection_bytes_max.emplace());
     }},
    {"function", &read_functions},
    {"kinesis-endpoint", [](const Tree& v, Opening& o) { return read_url(v, o.emulator.kinesis.endpoint); }},
    {"destination-dir",
     [](const Tree& v, Opening& o) { return read_text(v, o.emulator.triggers.destination_directory); }},
    {"bucket", [](const Tree& v, Opening& o) { return read_pairs(v, o.emulator.buckets.directories); }},
    {"s3-endpoint", [](const Tree& v, Opening& o) { return read_url(v, o.s3_endpoint); }},
    {"accounts-max",
     [](const Tree& v, Opening& o) { return read_whole(v, 1, count_max, o.emulator.limits.accounts_max); }},
    {"tables-max",
     [](const Tree& v, Opening& o) { return read_whole(v, 1, count_max, o.emulator.limits.tables_max); }},
    {"snapshots-max",
     [](const Tree& v, Opening& o) { return read_whole(v, 1, count_max, o.emulator.limits.snapshots_max); }},
    {"backups-max",
     [](const Tree& v, Opening& o) { return read_whole(v, 1, count_max, o.emulator.limits.backups_max); }},
    {"functions-max",
     [](const Tree& v, Opening& o) {
       return read_whole(v, 1, count_max, o.emulator.triggers.functions_max);
     }},
    {"mappings-max",
     [](const Tree& v, Opening& o) { return read_whole(v, 1, count_max, o.emulator.triggers.mappings_max); }},
    {"mapping-filters-max",
     [](const Tree& v, Opening& o) {
       return read_whole(v, 1, compat::triggers::filters_quota_raised, o.emulator.triggers.filters_max);
     }},
    {"memory-max",
     [](const Tree& v, Opening& o) {
       return read_whole(v, 64 * megabyte, bytes_max, o.emulator.database.memory_bytes_max);
     }},
    {"history-max",
     [](const Tree& v, Opening& o) {
       return read_whole(v, megabyte, bytes_max, o.emulator.database.history_bytes_max);
     }},
    {"log-level",
     [](const Tree& v, Opening& o) {
       using http::log::Level;
       constexpr std::array<std::pair<std::string_view, Level>, 5> levels = {{{"debug", Level::debug},
                                                                              {"info", Level::info},
                                                                              {"warning", Level::warning},
                                                                              {"error", Level::error},
                                                                              {"off", Level::off}}};
       return read_word(v, levels, o.log_level.emplace());
     }},
};

// The settings of a server. The access keys are read from `keys_file` after all options have been read.
struct Serving {
  http::ServerSettings server;
  bool require_signature = false;
  std::string keys_file;
};

constexpr Option<Serving> serve_table[] = {
    {"host", [](const Tree& v, Serving& s) { return read_text(v, s.server.host); }},
    {"port", [](const Tree& v, Serving& s) { return read_whole(v, 0, 65535, s.server.port); }},
    {"threads", [](const Tree& v, Serving& s) { return read_whole(v, 1, 256, s.server.threads); }},
    {"no-control",
     [](const Tree& v, Serving& s) {
       bool none = false;
       Problem problem = read_flag(v, none);
       s.server.access.control = !none;
       return problem;
     }},
    {"mcp-read-only", [](const Tree& v, Serving& s) { return read_flag(v, s.server.access.mcp_read_only); }},
    {"allowed-host", [](const Tree& v, Serving& s) { return read_texts(v, s.server.access.hosts); }},
    {"cors-origin", [](const Tree& v, Serving& s) { return read_texts(v, s.server.access.origins); }},
    {"require-signature", [](const Tree& v, Serving& s) { return read_flag(v, s.require_signature); }},
    {"keys", [](const Tree& v, Serving& s) { return read_text(v, s.keys_file); }},
    {"tls-cert", [](const Tree& v, Serving& s) { return read_text(v, s.server.tls_cert_file); }},
    {"tls-key", [](const Tree& v, Serving& s) { return read_text(v, s.server.tls_key_file); }},
    {"connections-max",
     [](const Tree& v, Serving& s) { return read_whole(v, 1, count_max, s.server.connections_max); }},
    {"request-seconds-max",
     [](const Tree& v, Serving& s) {
       std::int64_t seconds = 0;
       Problem problem = read_whole(v, 1, day_seconds, seconds);
       s.server.request_max = std::chrono::seconds(seconds);
       return problem;
     }},
    {"request-bytes-max",
     [](const Tree& v, Serving& s) {
       return read_whole(v, 32 * megabyte, std::int64_t{1} << 40, s.server.request_bytes_max);
     }},
    {"unread-bytes-max",
     [](const Tree& v, Serving& s) {
       return read_whole(v, 32 * megabyte, std::int64_t{1} << 40, s.server.unread_bytes_max);
     }},
    {"waiting-max", [](const Tree& v, Serving& s) { return read_whole(v, 1, 4096, s.server.waiting_max); }},
};

// Reads each member of the JSON object in `text` with the table entry that has the member's name.
template <class Settings, std::size_t count>
Problem read_options(std::string_view text, const Option<Settings> (&table)[count], Settings& settings) {
  if (text.empty()) return {};
  if (text.size() > options_bytes_max) return "the options are longer than 1 MB";
  const auto tree = json::parse_tree(text);
  if (!tree || !tree->is_object()) return "the options must be a JSON object";
  for (const auto& member : tree->items()) {
    const auto* const option = std::find_if(std::begin(table), std::end(table),
                                            [&](const auto& each) { return each.name == member.key(); });
    if (option == std::end(table)) return "unknown option '" + member.key() + "'";
    if (const Problem problem = option->read(member.value(), settings); !problem.empty())
      return "the option " + member.key() + " " + problem;
  }
  return {};
}

template <class Settings, std::size_t count>
std::vector<std::string_view> names(const Option<Settings> (&table)[count]) {
  std::vector<std::string_view> all;
  for (const auto& option : table) all.push_back(option.name);
  return all;
}

}  // namespace

Expected<compat::EmulatorOptions, std::string> open_options(std::string_view text) {
  Opening opening;
  if (Problem problem = read_options(text, open_table, opening); !problem.empty())
    return Unexpected{std::move(problem)};
  compat::EmulatorOptions& options = opening.emulator;
  if (!engine::is_region(options.region))
    return Unexpected{"the option region must be " + std::string(engine::region_letters)};
  const auto invoker = std::make_shared<http::HttpInvoker>(http::key_of_environment());
  options.triggers.invoker = options.kinesis.invoker = invoker;
  if (opening.s3_endpoint)
    options.buckets.endpoint = {*std::move(opening.s3_endpoint), options.region, invoker};
  options.database.report = reports_to_the_log();
  options.warn = warns_in_the_log();
  if (opening.log_level) http::log::set_level(*opening.log_level);
  return std::move(options);
}

Expected<http::ServerSettings, std::string> serve_options(std::string_view text) {
  Serving serving;
  if (Problem problem = read_options(text, serve_table, serving); !problem.empty())
    return Unexpected{std::move(problem)};
  TRY(serving.server.access.keys, http::Keys::required(serving.require_signature, serving.keys_file));
  return std::move(serving.server);
}

std::vector<std::string_view> names_of_open_options() { return names(open_table); }
std::vector<std::string_view> names_of_serve_options() { return names(serve_table); }

}  // namespace mayfly::embed
