#include "cli/options/completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/calls/server_calls.h"
#include "cli/options/control_options.h"
#include "cli/options/option_text.h"
#include "compat/control/index.h"
#include "engine/base/text.h"

namespace mayfly::cli {
namespace {

using Words = std::vector<std::string>;

constexpr auto time_max = std::chrono::milliseconds(completion_milliseconds_max);

bool is_safe(const std::string& word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return engine::is_alphanumeric(c) || c == '_' || c == '.' || c == ':' || c == '-';
  });
}

// Splits a line into words as a shell does, but without expansions. The last word is the one at the cursor
// and may be empty.
Words split(const std::string& line) {
  Words words(1);
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0 && c == quote)
      quote = 0;
    else if (quote == 0 && (c == '\'' || c == '"'))
      quote = c;
    else if (c == '\\' && quote != '\'' && i + 1 < line.size())
      words.back() += line[++i];
    else if (quote == 0 && (c == ' ' || c == '\t' || c == '\n'))
      words.emplace_back();
    else
      words.back() += c;
  }
  // Several spaces count as one.
  const std::string last = words.back();
  words.pop_back();
  words.erase(std::remove(words.begin(), words.end(), ""), words.end());
  words.push_back(last);
  return words;
}

// --- values from a server

// Makes a control call and returns the member `name` of each object in the answer's list.
Words listed_names(const ServerCalls& server, const std::string& path, const std::string& list,
                   const std::string& name) {
  Words names;
  const auto answer = server.control("GET", path);
  const auto tree = answer ? json::parse_tree(*answer) : std::nullopt;
  const json::Tree* const objects = tree ? json::member(*tree, list) : nullptr;
  if (objects == nullptr || !objects->is_array()) return names;
  for (const json::Tree& object : *objects) {
    if (names.size() == completion_names_max) break;
    if (const auto value = json::string_member(object, name)) names.emplace_back(*value);
  }
  return names;
}

Words tables_of(ServerCalls& server) {
  const auto names = table_names(server, completion_names_max);
  return names ? *names : Words();
}

// --- words that the command line expects

// The command and option at the cursor.
struct Place {
  const CLI::App* command;
  std::string path;                          // "mayfly clock advance"
  const CLI::Option* value_of = nullptr;     // the option whose value is being typed
  std::size_t positionals = 0;               // number of values before the cursor
  std::map<std::string, std::string> given;  // options such as --url, with their values
};

Place place_of(const CLI::App& app, const Words& words) {
  Place place{.command = &app, .path = "mayfly"};
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "help" && place.command == &app) continue;
    if (const CLI::Option* const option =
            word.starts_with("-") ? option_named(*place.command, word) : nullptr) {
      if (option->get_items_expected_min() == 0) continue;
      if (i + 2 == words.size()) place.value_of = option;
      place.given[word] = words[++i];
      continue;
    }
    if (word.starts_with("--")) {
      if (const auto equals = word.find('='); equals != std::string::npos)
        place.given[word.substr(0, equals)] = word.substr(equals + 1);
      continue;
    }
    const auto named =
        place.command->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
    if (place.positionals == 0 && !named.empty()) {
      place.command = named.front();
      place.path += " " + word;
    } else {
      ++place.positionals;
    }
  }
  return place;
}

ServerPlace server_of(const Place& place) {
  ServerPlace server;
  const auto take = [&](std::string& to, const char* option, const char* variable) {
    if (const auto given = place.given.find(option); given != place.given.end())
      to = given->second;
    else if (const char* const value = std::getenv(variable); value != nullptr && *value != '\0')
      to = value;
  };
  take(server.url, "--url", "MAYFLY_URL");
  take(server.ca_file, "--ca-file", "MAYFLY_CA_FILE");
  take(server.account, "--account", "MAYFLY_ACCOUNT");
  take(server.region, "--region", "MAYFLY_REGION");
  return server;
}

// The choices of a member of a control call. `name` is the member's option, such as "--event" or "MODE".
Words described_values(const Place& place, const std::string& name) {
  for (const compat::control::ControlCall* call : compat::control::all_calls()) {
    if (place.path != "mayfly " + std::string(call->command)) continue;
    for (const auto members : {call->query, call->body})
      for (const compat::control::Member& member : members)
        if (member.option == name) return {member.choices.begin(), member.choices.end()};
  }
  return {};
}

// The known values of an option or a positional. `name` is "--table" or "TABLE".
Words values_of(const Place& place, const std::string& name) {
  static const std::map<std::string, Words> fixed = {
      {"FAULT", fault_kinds()},
      {"--ttl-mode", {"exact", "aws", "manual"}},
      {"SHELL", {"bash", "zsh", "fish"}},
      {"--log-level", {"debug", "info", "warning", "error", "off"}},
      {"--if-exists", {"fail", "skip", "append", "replace"}},
      {"SPAN", {"next-expiry"}}};
  if (const auto values = fixed.find(name); values != fixed.end()) return values->second;
  if (Words values = described_values(place, name); !values.empty()) return values;
  auto server = ServerCalls::to(server_of(place));
  if (!server) return {};
  server->limit_time(time_max);
  // `table create` takes a new name, so there is nothing to complete.
  if ((name == "TABLE" && place.path != "mayfly table create") || name == "--table" ||
      (name == "--from" && place.path == "mayfly event dynamodb"))
    return tables_of(*server);
  if (name == "ID" && place.path.starts_with("mayfly snapshot"))
    return listed_names(*server, "/_mayfly/snapshots", "snapshots", "id");
  if (name == "ID" && place.path.starts_with("mayfly jobs"))
    return listed_names(*server, "/_mayfly/jobs", "jobs", "id");
  if (name == "NAME" && (place.path == "mayfly function remove" || place.path == "mayfly invoke"))
    return listed_names(*server, "/_mayfly/functions", "functions", "name");
  return {};
}

Words candidates(const Place& place, const std::string& word) {
  if (place.value_of != nullptr) return values_of(place, place.value_of->get_name(false, false));
  Words found;
  if (word.starts_with("-")) {
    for (const CLI::Option* option : options_of(*place.command))
      for (const std::string& name : option->get_lnames()) found.push_back("--" + name);
    return found;
  }
  if (place.positionals == 0)
    for (const CLI::App* command : listed_commands(*place.command)) found.push_back(command->get_name());
  std::size_t before = place.positionals;
  for (const CLI::Option* option : options_of(*place.command)) {
    if (!option->get_positional()) continue;
    const auto takes = static_cast<std::size_t>(option->get_items_expected_max());
    if (before >= takes) {
      before -= takes;
      continue;
    }
    const Words values = values_of(place, option->get_name(true));
    found.insert(found.end(), values.begin(), values.end());
    break;
  }
  return found;
}

constexpr const char* bash_script = R"sh(_mayfly() {
  local IFS=$'\n'
  COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" __complete "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)" -- \
    "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _mayfly mayfly
)sh";

// Works both as a file named _mayfly in $fpath and with `source <(mayfly completion zsh)`.
constexpr const char* zsh_script = R"sh(#compdef mayfly
_mayfly() {
  local -a found
  found=("${(@f)$("$words[1]" __complete "${(j: :)words[1,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found[1]" ]]; then
    compadd -- "${found[@]}"
  else
    _files
  fi
}
if [[ "$funcstack[1]" == _mayfly ]]; then
  _mayfly "$@"
else
  compdef _mayfly mayfly
fi
)sh";

constexpr const char* fish_script = R"sh(function __mayfly_complete
  set -l words (mayfly __complete (commandline -cp | string join ' ') 2>/dev/null)
  if test (count $words) -gt 0
    printf '%s\n' $words
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c mayfly -f -a '(__mayfly_complete)'
)sh";

}  // namespace

std::string completion_script(const std::string& shell) {
  if (shell == "fish") return fish_script;
  if (shell == "zsh") return zsh_script;
  return bash_script;
}

std::string completions(const CLI::App& app, const std::string& line) {
  const Words words = split(line);
  std::string text;
  if (words.size() < 2) return text;
  for (const std::string& word : candidates(place_of(app, words), words.back()))
    if (is_safe(word) && word.starts_with(words.back())) text += word + "\n";
  return text;
}

}  // namespace mayfly::cli
