#include "cli/options/control_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/base/durations.h"
#include "cli/options/option_text.h"
#include "compat/calls/call_path.h"
#include "compat/calls/times.h"
#include "compat/control/index.h"
#include "compat/json/json_tree.h"
#include "engine/values/account_id.h"
#include "engine/values/region.h"

namespace mayfly::cli {
namespace {

using compat::control::ControlCall;
using compat::control::Kind;
using compat::control::Member;
using json::Tree;

// The values that a command was given. Each command reads only the values that it has options for.
struct Given {
  // Members of the call, by name.
  std::map<std::string_view, std::string> texts;
  std::map<std::string_view, std::vector<std::int64_t>> ranges;
  std::map<std::string_view, bool> flags;
  std::vector<std::string> key;
  // Arguments of commands with their own syntax.
  std::string time, rate;
  std::vector<std::string> rules;
  bool settle = false, paused = false, resumed = false;
};

// Returns the given members as JSON. The key is left out, because its attributes' types depend on the table.
Tree body_of(const Given& given, std::span<const Member> members) {
  Tree body = Tree::object();
  for (const Member& member : members) {
    const std::string name(member.name);
    if (const auto flag = given.flags.find(member.name); flag != given.flags.end() && flag->second)
      body[name] = true;
    if (const auto range = given.ranges.find(member.name);
        range != given.ranges.end() && !range->second.empty())
      body[name] = range->second;
    const auto found = given.texts.find(member.name);
    if (found == given.texts.end() || found->second.empty()) continue;
    switch (member.kind) {
      case Kind::seconds: body[name] = json::raw(seconds_of(found->second).value_or("0")); break;
      case Kind::number:
      case Kind::whole:
      case Kind::flag: body[name] = json::raw(found->second); break;
      default: body[name] = found->second;
    }
  }
  return body;
}

std::string path_of(const Given& given, const ControlCall& call) {
  return *compat::control::call_path(call, [&](const Member& member) -> compat::control::MemberText {
    const auto found = given.texts.find(member.name);
    // An empty part of the path is left to the server, which rejects it.
    const bool is_part = member.given == compat::control::Given::always;
    if (found == given.texts.end() || (found->second.empty() && !is_part)) return std::nullopt;
    return found->second;
  });
}

const ControlCall& call_named(std::string_view name) {
  for (const ControlCall* call : compat::control::all_calls())
    if (call->name == name) return *call;
  MAYFLY_CHECK(false);
  std::abort();
}

const Member& member_named(std::span<const Member> members, std::string_view name) {
  const auto found =
      std::find_if(members.begin(), members.end(), [&](const Member& member) { return member.name == name; });
  MAYFLY_CHECK(found != members.end());
  return *found;
}

// --- checks of arguments

std::string check_rule(const std::string& text) {
  const auto rule = json::parse_tree(text);
  return rule && rule->is_object() ? "" : must_be(R"(a JSON object such as '{"fault":"latency"}')", text);
}

std::string check_key(const std::string& text) {
  if (!text.starts_with('{') || json::parse_tree(text)) return {};
  return must_be(R"(a value, NAME=VALUE or a JSON object such as '{"id":"1"}')", text);
}

std::string check_duration(const std::string& text) {
  return seconds_of(text) ? "" : must_be("a duration such as 90s, 15m, 48h, 2d or 1h30m", text);
}

std::string check_time(const std::string& text) {
  return compat::control::parse_time(text) ? "" : must_be("a time such as 2031-01-01T00:00:00Z", text);
}

std::string check_advance(const std::string& text) {
  if (seconds_of(text) || text == "next-expiry" || compat::control::parse_time(text)) return {};
  const std::string ways =
      "a duration such as 90s, 15m, 48h, 2d or 1d12h, a time such as 2031-01-01T00:00:00Z, or next-expiry";
  return must_be(ways, text) + (text.starts_with('-') ? ". The clock cannot go back." : "");
}

constexpr const char* server_group = "Server";
constexpr std::string_view key_help = R"(values (1), NAME=VALUE (id=1) or JSON ('{"id":{"S":"1"}}'))";

// --- commands

// The first words of all two-word commands, each with the help text of the group that it names.
constexpr std::pair<std::string_view, const char*> groups[] = {
    {"clock", "Show, freeze, move and reset the account's clock"},
    {"ttl", "Explain, list and force the expiry of items"},
    {"snapshot", "Save and restore an account: tables, streams and clock"},
    {"stream", "List, split and roll over the shards of a table's stream"},
    {"replication", "Delay or pause replication between the regions of global tables"},
    {"function", "Register and run functions that event source mappings and Invoke call"},
    {"faults", "Make operations fail on purpose"},
    {"failpoint", "Hold an item's expiry just before the item is deleted"},
};

// Calls whose answers are printed in a special format.
constexpr std::pair<std::string_view, ControlCommand::Shows> shown_parts[] = {
    {"take_snapshot", ControlCommand::Shows::id},
    {"await_change", ControlCommand::Shows::change},
    {"follow_events", ControlCommand::Shows::changes},
    {"metrics", ControlCommand::Shows::metrics},
};

class Commands {
 public:
  Commands(CLI::App& app, ControlCommand& command)
      : app_(app), command_(command), given_(std::make_shared<Given>()) {}

  void add_all();

 private:
  using Body = std::function<Tree(const Given& given)>;

  // Returns the CLI11 app for the first of two words such as "clock show", and removes that word from
  // `words`.
  CLI::App& parent_of(std::string_view& words);
  // Adds a command that makes the call with this body. `words` is the command's name, such as "clock freeze".
  CLI::App& add(std::string_view words, const std::string& help, const ControlCall& call, Body body);
  // Adds a command whose name and options are derived from the call's description.
  void add_described(const ControlCall& call);
  void take(CLI::App& command, const Member& member);

  // Commands with their own syntax.
  void add_clock_settings(const ControlCall& call);
  void add_advance(const ControlCall& call);
  void add_ttl_show(const ControlCall& call);
  void add_jobs(const ControlCall& call);
  void add_replication_set(const ControlCall& call);
  void add_faults_set(const ControlCall& call);
  using Add = void (Commands::*)(const ControlCall& call);
  static constexpr std::pair<std::string_view, Add> own_syntax[] = {
      {"set_clock", &Commands::add_clock_settings},        {"advance_clock", &Commands::add_advance},
      {"show_all_ttl", &Commands::add_ttl_show},           {"list_jobs", &Commands::add_jobs},
      {"set_replication", &Commands::add_replication_set}, {"set_faults", &Commands::add_faults_set}};

  // Sets which member's rows are printed without --json, and the text for an empty list.
  void lists(CLI::App& command, const ControlCall& call) {
    command.parse_complete_callback([filled = &command_, &call] {
      filled->list = call.rows;
      filled->when_empty = call.when_empty;
    });
  }

  CLI::App& app_;
  ControlCommand& command_;
  const std::shared_ptr<Given> given_;
};

void Commands::add_all() {
  for (const ControlCall* call : compat::control::all_calls()) {
    const auto* const own = std::find_if(std::begin(own_syntax), std::end(own_syntax),
                                         [&](const auto& each) { return each.first == call->name; });
    if (own != std::end(own_syntax)) {
      (this->*own->second)(*call);
    } else if (!call->command.empty()) {
      add_described(*call);
    }
  }
}

CLI::App& Commands::parent_of(std::string_view& words) {
  const auto space = words.find(' ');
  if (space == std::string_view::npos) return app_;
  const std::string first(words.substr(0, space));
  words.remove_prefix(space + 1);
  const auto known = app_.get_subcommands([&](const CLI::App* each) { return each->get_name() == first; });
  if (!known.empty()) return *known.front();
  const auto* const group = std::find_if(std::begin(groups), std::end(groups),
                                         [&](const auto& each) { return each.first == first; });
  MAYFLY_CHECK(group != std::end(groups));
  return *app_.add_subcommand(first, group->second)->require_subcommand(1);
}

CLI::App& Commands::add(std::string_view words, const std::string& help, const ControlCall& call, Body body) {
  CLI::App& parent = parent_of(words);
  CLI::App* added = parent.add_subcommand(std::string(words), help);
  add_server_options(*added, command_.server);
  add_json_option(*added, command_.json);
  added->callback([filled = &command_, given = given_, &call, body = std::move(body)] {
    filled->method = call.method;
    filled->path = path_of(*given, call);
    filled->table = given->texts["table"];
    filled->key = given->key;
    const Tree members = body(*given);
    if (!call.body.empty()) filled->body = json::print(members);
  });
  return *added;
}

void Commands::add_described(const ControlCall& call) {
  CLI::App& command = add(call.command, std::string(call.about), call,
                          [&call](const Given& given) { return body_of(given, call.body); });
  lists(command, call);
  for (const auto& [name, part] : shown_parts)
    if (name == call.name)
      command.parse_complete_callback([filled = &command_, part = part] { filled->shows = part; });
  for (const Member& member : call.place) take(command, member);
  for (const auto members : {call.query, call.body})
    for (const Member& member : members)
      if (!member.option.empty()) take(command, member);
  if (call.name == "explain_expiry") command.footer("Example:\n  mayfly ttl explain carts 1");
  if (call.name == "metrics") command.get_option("--json")->description("Print one JSON object");
}

// Adds an option for the member, or a positional argument if the member is in the path or its `option` has no
// dashes.
void Commands::take(CLI::App& command, const Member& member) {
  std::string name(member.option);
  if (name.empty()) {
    name = member.name;
    for (char& c : name) c = static_cast<char>(c & ~0x20);
  }
  const std::string about(member.about);
  const bool is_required = member.given == compat::control::Given::always;
  CLI::Option* option = nullptr;
  switch (member.kind) {
    case Kind::flag: command.add_flag(name, given_->flags[member.name], about); return;
    case Kind::key:
      command.add_option(name, given_->key, "Key of the item: " + std::string(key_help))
          ->required(is_required)
          ->expected(1, 2)
          ->check(check_key);
      return;
    case Kind::range:
      command.add_option(name, given_->ranges[member.name], about)
          ->required(is_required)
          ->expected(2)
          ->check(whole_number())
          ->type_name("MIN MAX");
      return;
    default: option = command.add_option(name, given_->texts[member.name], about)->required(is_required);
  }
  switch (member.kind) {
    case Kind::seconds:
      option->check(check_duration)->type_name("DURATION");
      if (!member.standard.empty()) option->default_str(std::string(member.standard) + "s");
      return;
    case Kind::time: option->check(check_time)->type_name("TIME"); return;
    case Kind::whole:
      option->check(member.most > 1e9 || member.most == 0 ? whole_number()
                                                          : between(static_cast<std::int64_t>(member.least),
                                                                    static_cast<std::int64_t>(member.most)));
      break;
    case Kind::number: option->check(between_decimals(member.least, member.most)); break;
    default:
      if (!member.choices.empty()) option->check(one_of({member.choices.begin(), member.choices.end()}));
      if (name.starts_with('-')) option->type_name("NAME");
      return;
  }
  option->type_name("N");
  if (!member.standard.empty()) option->default_str(std::string(member.standard));
}

void Commands::add_clock_settings(const ControlCall& call) {
  const auto put = [&](std::string_view words, const std::string& help,
                       const std::string& mode) -> CLI::App& {
    return add(words, help, call, [mode](const Given& given) {
      Tree body = Tree::object();
      if (!mode.empty()) body["mode"] = mode;
      if (!given.time.empty()) body["now"] = given.time;
      if (!given.rate.empty()) body["rate"] = json::raw(given.rate);
      return body;
    });
  };
  const auto take_time = [this](CLI::App& command, const std::string& help) {
    return command.add_option("TIME", given_->time, help)->check(check_time);
  };
  take_time(put("clock freeze", "Stop the clock", "frozen"),
            "Time to set first, such as 2031-01-01T00:00:00Z");
  take_time(put("clock set", "Set the clock", ""), "Time, such as 2031-01-01T00:00:00Z")->required();
  put("clock real", "Let the clock follow the host's time", "real");
  put("clock rate", "Let the clock run faster or slower", "rate")
      .add_option("RATE", given_->rate, "Speed; at 60, an hour passes in a minute")
      ->check(positive())
      ->required();
}

void Commands::add_advance(const ControlCall& call) {
  const Member& age_streams = member_named(call.body, "age_streams");
  const Member& settle = member_named(call.body, "settle");
  CLI::App& advance = add("clock advance", std::string(call.about), call, [&call](const Given& given) {
    Tree body = body_of(given, call.body);
    const auto seconds = seconds_of(given.time);
    seconds ? body["seconds"] = json::raw(*seconds) : body["to"] = given.time;
    if (given.settle) body["settle"] = "triggers";
    return body;
  });
  advance.add_option("SPAN", given_->time, "Duration (90s, 15m, 48h, 2d, 1d12h), time, or next-expiry")
      ->required()
      ->check(check_advance);
  take(advance, age_streams);
  advance.add_flag("--settle", given_->settle, std::string(settle.about));
  advance.footer("Example:\n  mayfly clock advance 1d12h");
}

// If a table is given, the command makes a different call.
void Commands::add_ttl_show(const ControlCall& call) {
  const ControlCall& of_table = call_named("show_ttl");
  CLI::App& show = add("ttl show", "Print TTL settings and counts of pending and expired items", call,
                       [](const Given&) { return Tree::object(); });
  show.add_option("TABLE", given_->texts["table"], "Table (default: all tables)");
  take(show, call.query[0]);
  show.callback([filled = &command_, given = given_, &call, &of_table] {
    const bool shows_all = given->texts["table"].empty();
    filled->method = call.method;
    filled->path = path_of(*given, shows_all ? call : of_table);
    if (!shows_all) return;
    filled->list = "tables";
    filled->when_empty = "No tables in account {account}, region {region}.";
  });
}

void Commands::add_jobs(const ControlCall& call) {
  CLI::App& jobs = add("jobs", "Show the progress of exports, imports and bulk puts", call,
                       [](const Given&) { return Tree::object(); });
  jobs.require_subcommand(0, 1);
  jobs.add_flag("--watch", command_.watch, "Print progress until all jobs have ended");
  // Replaces the callback that add() has set, because that callback would also run after the callback of a
  // subcommand.
  jobs.callback([command = &command_, &jobs, &call] {
    if (!jobs.get_subcommands().empty()) return;
    command->method = call.method;
    command->path = call.path;
    command->shows = ControlCommand::Shows::jobs;
    command->when_empty = "No exports, imports or bulk puts in account {account}.";
  });
}

void Commands::add_replication_set(const ControlCall& call) {
  CLI::App& set = add("replication set", std::string(call.about), call, [&call](const Given& given) {
    Tree body = body_of(given, call.body);
    if (given.paused || given.resumed) body["paused"] = given.paused;
    return body;
  });
  for (const Member& member : call.body)
    if (member.kind != Kind::flag) take(set, member);
  CLI::Option* pause = set.add_flag("--pause", given_->paused, "Hold back all writes");
  set.add_flag("--resume", given_->resumed, "Deliver the writes that were held back")->excludes(pause);
}

void Commands::add_faults_set(const ControlCall& call) {
  const auto rule_members = call.body[0].members;
  CLI::App& set = add("faults set", "Replace all fault rules", call, [rule_members](const Given& given) {
    Tree rules = Tree::array();
    if (given.texts.contains("fault") && !given.texts.at("fault").empty())
      rules.push_back(body_of(given, rule_members));
    for (const std::string& rule : given.rules) rules.push_back(json::raw(rule));
    return Tree{{"rules", std::move(rules)}};
  });
  lists(set, call);
  for (const Member& member : rule_members) {
    if (member.kind != Kind::flag) {
      take(set, member);
    } else {  // "false" is not the same as a missing member
      set.add_option(std::string(member.option), given_->texts[member.name], std::string(member.about))
          ->check(one_of({"true", "false"}))
          ->type_name("BOOL");
    }
  }
  set.get_option("FAULT")->required(false);  // not required if --rule is given
  set.add_option("--rule", given_->rules,
                 R"(Whole rule, such as '{"fault":"latency","milliseconds":200}'; can be repeated)")
      ->check(check_rule)
      ->allow_extra_args(false)
      ->type_name("JSON");
  set.footer("Example:\n  mayfly faults set throttle --operation PutItem --count 2");
}

}  // namespace

const std::vector<std::string>& fault_kinds() {
  static const std::vector<std::string> kinds = [] {
    const auto names = member_named(call_named("set_faults").body[0].members, "fault").choices;
    return std::vector<std::string>(names.begin(), names.end());
  }();
  return kinds;
}

void add_server_options(CLI::App& command, ServerPlace& place) {
  command.add_option("--url", place.url, "Server to use")
      ->envname("MAYFLY_URL")
      ->type_name("URL")
      ->capture_default_str()
      ->group(server_group);
  command
      .add_option("--ca-file", place.ca_file,
                  "Trust the certificates in FILE for https:// (default: the system's)")
      ->envname("MAYFLY_CA_FILE")
      ->type_name("FILE")
      ->group(server_group);
  command
      .add_option("--account", place.account,
                  "Account (default: AWS_ACCESS_KEY_ID if it has twelve digits, else 000000000000)")
      ->envname("MAYFLY_ACCOUNT")
      ->type_name("ID")
      ->check([](const std::string& text) {
        return engine::is_account_id(text) ? std::string() : must_be("twelve digits", text);
      })
      ->group(server_group);
  command.add_option("--region", place.region, "Region (default: the server's)")
      ->envname("MAYFLY_REGION")
      ->type_name("NAME")
      ->check([](const std::string& text) {
        return engine::is_region(text) ? std::string() : must_be(engine::region_letters, text);
      })
      ->group(server_group);
}

void add_json_option(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print the server's response as JSON");
}

void add_control_commands(CLI::App& app, ControlCommand& command) { Commands(app, command).add_all(); }

}  // namespace mayfly::cli
