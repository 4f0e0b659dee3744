#include "cli/options/control_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/base/durations.h"
#include "cli/options/option_text.h"
#include "compat/control/call.h"
#include "compat/wire/json_tree.h"
#include "compat/wire/percent_encoding.h"
#include "engine/values/account_id.h"
#include "engine/values/region.h"

namespace mayfly::cli {
namespace {

using json::Tree;

// The values that a command was given. Each command reads those that it has options for.
struct Given {
  std::string table, name, id, url, time, mode, event, by, from, to, since, operation, fault, exception,
      shard;
  std::vector<std::string> key, rules;
  std::vector<std::int64_t> delay;
  std::optional<std::int64_t> limit, window_seconds, count, seed, items, writes, milliseconds;
  std::optional<double> rate, probability;
  std::optional<bool> applied;
  std::string duration;
  bool age_streams = false, settle = false, paused = false, resumed = false;
};

// The given values as a JSON body.
class Body {
 public:
  Body& add(const char* name, const std::string& text) {
    if (!text.empty()) tree_[name] = text;
    return *this;
  }
  template <typename Number>
  Body& add(const char* name, const std::optional<Number>& number) {
    if (number) tree_[name] = *number;
    return *this;
  }
  Body& add_seconds(const char* name, const std::string& duration) {
    if (const auto seconds = seconds_of(duration)) tree_[name] = json::raw(*seconds);
    return *this;
  }
  Body& set(const char* name, Tree value) {
    tree_[name] = std::move(value);
    return *this;
  }
  [[nodiscard]] std::string text() const { return json::print(tree_); }

 private:
  Tree tree_ = Tree::object();
};

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

class Commands {
 public:
  Commands(CLI::App& app, ControlCommand& command)
      : app_(app), command_(command), given_(std::make_shared<Given>()) {}

  void add_clock();
  void add_ttl();
  void add_waiting();
  void add_snapshots();
  void add_streams();
  void add_jobs();
  void add_replication();
  void add_functions();
  void add_faults();
  void add_failpoints();
  void add_server();

 private:
  using Make = std::function<std::string(const Given& given)>;  // returns a path or a body

  CLI::App& group(const std::string& name, const std::string& help) {
    return *app_.add_subcommand(name, help)->require_subcommand(1);
  }

  // `path` follows /_mayfly.
  CLI::App& add(CLI::App& parent, const std::string& name, const std::string& help, const std::string& method,
                Make path, Make body = {}) {
    CLI::App* added = parent.add_subcommand(name, help);
    add_server_options(*added, command_.server);
    add_json_option(*added, command_.json);
    added->callback(
        [filled = &command_, given = given_, method, path = std::move(path), body = std::move(body)] {
          filled->method = method;
          filled->path = "/_mayfly" + path(*given);
          filled->table = given->table;
          filled->key = given->key;
          if (body) filled->body = body(*given);
        });
    return *added;
  }
  CLI::App& add(CLI::App& parent, const std::string& name, const std::string& help, const std::string& method,
                const std::string& path, Make body = {}) {
    return add(
        parent, name, help, method, [path](const Given&) { return path; }, std::move(body));
  }

  void take_table(CLI::App& to, bool required = true) {
    to.add_option("TABLE", given_->table, "Table")->required(required);
  }
  void take_key(CLI::App& to, bool required = true) {
    to.add_option("KEY", given_->key, "Key of the item: " + std::string(key_help))
        ->required(required)
        ->expected(1, 2)
        ->check(check_key);
  }
  void take_wait(CLI::App& to, const std::string& help) {
    to.add_option("--timeout", given_->duration, help)->check(check_duration)->type_name("DURATION");
  }
  // Sets which part of the answer is printed for people.
  void shows(CLI::App& command, ControlCommand::Shows shows) {
    command.parse_complete_callback([filled = &command_, shows] { filled->shows = shows; });
  }
  void lists(CLI::App& command, const std::string& member, const std::string& when_empty) {
    command.parse_complete_callback([filled = &command_, member, when_empty] {
      filled->list = member;
      filled->when_empty = when_empty;
    });
  }
  void says(CLI::App& command, const std::string& when_done) { lists(command, "", when_done); }

  CLI::App& app_;
  ControlCommand& command_;
  const std::shared_ptr<Given> given_;
};

std::string segment(const std::string& text) {
  std::string encoded = "/";
  compat::append_encoded(encoded, text, "");
  return encoded;
}

// The query string ?a=b&c=d of the members that are not empty.
std::string query(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string text;
  for (const auto& [name, value] : members) {
    if (value.empty()) continue;
    text += (text.empty() ? "?" : "&") + name + "=";
    compat::append_encoded(text, value, "");
  }
  return text;
}

void Commands::add_clock() {
  CLI::App& clock = group("clock", "Show, freeze, move and reset the account's clock");
  const auto put = [this, &clock](const std::string& name, const std::string& help,
                                  const std::string& mode) -> CLI::App& {
    return add(clock, name, help, "PUT", "/clock", [mode](const Given& given) {
      return Body().add("mode", mode).add("now", given.time).add("rate", given.rate).text();
    });
  };
  const auto take_time = [this](CLI::App& command, const std::string& help) {
    return command.add_option("TIME", given_->time, help)->check(check_time);
  };
  add(clock, "show", "Print the clock's mode and time", "GET", "/clock");
  take_time(put("freeze", "Stop the clock", "frozen"), "Time to set first, such as 2031-01-01T00:00:00Z");
  take_time(put("set", "Set the clock", ""), "Time, such as 2031-01-01T00:00:00Z")->required();
  put("real", "Let the clock follow the host's time", "real");
  put("rate", "Let the clock run faster or slower", "rate")
      .add_option("RATE", given_->rate, "Speed; at 60 an hour passes in a minute")
      ->check(positive())
      ->required();
  CLI::App& advance =
      add(clock, "advance", "Move the clock forward and delete every item that expires on the way", "POST",
          "/clock/advance", [](const Given& given) {
            Body body;
            seconds_of(given.time) ? body.add_seconds("seconds", given.time) : body.add("to", given.time);
            if (given.age_streams) body.set("age_streams", true);
            if (given.settle) body.set("settle", "triggers");
            return body.text();
          });
  advance.add_option("SPAN", given_->time, "Duration (90s, 15m, 48h, 2d, 1d12h), time, or next-expiry")
      ->required()
      ->check(check_advance);
  advance.add_flag("--age-streams", given_->age_streams,
                   "Also age stream records and iterators; records over 24 hours old are trimmed");
  advance.add_flag("--settle", given_->settle,
                   "Wait until replicas, functions, Kinesis and jobs have processed all changes");
  advance.footer("Example:\n  mayfly clock advance 1d12h");
}

void Commands::add_ttl() {
  CLI::App& ttl = group("ttl", "Explain, list and force the expiry of items");
  const auto of_table = [](const std::string& what) {
    return [what](const Given& given) {
      return "/ttl" + (given.table.empty() ? "" : segment(given.table)) + what +
             query({{"limit", given.limit ? std::to_string(*given.limit) : ""},
                    {"window_seconds", given.window_seconds ? std::to_string(*given.window_seconds) : ""}});
    };
  };
  CLI::App& show =
      add(ttl, "show", "Print TTL settings, pending and expired items of tables", "GET", of_table(""));
  show.parse_complete_callback([filled = &command_, given = given_] {
    if (!given->table.empty()) return;
    filled->list = "tables";
    filled->when_empty = "No tables in account {account}, region {region}.";
  });
  take_table(show, false);
  show.add_option("--window-seconds", given_->window_seconds,
                  "Count upcoming expiries in windows of this length")
      ->check(between(1, std::int64_t{366} * 24 * 3600))
      ->type_name("SECONDS");
  CLI::App& set = add(ttl, "set", "Choose how a table deletes expired items", "PUT", of_table(""),
                      [](const Given& given) {
                        Body body;
                        body.add("mode", given.mode).add("seed", given.seed);
                        if (!given.delay.empty()) body.set("delay_seconds", given.delay);
                        return body.text();
                      });
  take_table(set);
  set.add_option("MODE", given_->mode, "exact (immediately), aws (late, as on AWS) or manual (on request)")
      ->required()
      ->check(one_of({"exact", "aws", "manual"}));
  set.add_option("--delay", given_->delay, "Minimum and maximum delay of deletions in mode aws, in seconds")
      ->expected(2)
      ->check(whole_number())
      ->type_name("MIN MAX");
  set.add_option("--seed", given_->seed, "Random seed for the delays in mode aws")->check(whole_number());
  take_table(
      add(ttl, "sweep", "Delete a table's expired items now, in any mode", "POST", of_table("/sweep")));
  CLI::App& upcoming = add(ttl, "upcoming", "List the items that expire next", "GET", of_table("/upcoming"));
  lists(upcoming, "items", "No item of this table will expire.");
  take_table(upcoming);
  upcoming.add_option("--limit", given_->limit, "Maximum items to list")->check(whole_number());
  CLI::App& explain = add(ttl, "explain", "Explain when an item expires, or why it does not", "POST",
                          of_table("/explain"), [](const Given&) { return Body().text(); });
  take_table(explain);
  take_key(explain);
  explain.footer("Example:\n  mayfly ttl explain carts 1");
}

void Commands::add_waiting() {
  CLI::App& await = add(app_, "await", "Wait for a change of an item and print it", "POST", "/await",
                        [](const Given& given) {
                          return Body()
                              .add("table", given.table)
                              .add("event", given.event)
                              .add("by", given.by)
                              .add("since", given.since)
                              .add_seconds("timeout_seconds", given.duration)
                              .text();
                        });
  CLI::App& tail = add(app_, "tail", "Print changes of items as they happen", "GET", [](const Given& given) {
    return "/events" + query({{"table", given.table}, {"event", given.event}, {"by", given.by}});
  });
  shows(await, ControlCommand::Shows::change);
  shows(tail, ControlCommand::Shows::changes);
  take_table(await);
  take_key(await);
  take_table(tail, false);
  for (CLI::App* command : {&await, &tail}) {
    command->add_option("--event", given_->event, "Only INSERT, MODIFY or REMOVE")
        ->check(one_of({"INSERT", "MODIFY", "REMOVE"}))
        ->type_name("EVENT");
    command->add_option("--by", given_->by, "Only changes by user or by service (expired items)")
        ->check(one_of({"user", "service"}))
        ->type_name("WRITER");
  }
  await.add_option("--since", given_->since, "Also accept changes in the table's stream from this time on")
      ->check(check_time)
      ->type_name("TIME");
  take_wait(await, "Maximum time to wait, in real time (default: 5s)");
}

void Commands::add_snapshots() {
  CLI::App& snapshot = group("snapshot", "Save and restore an account: tables, streams and clock");
  const auto of_id = [](const std::string& what) {
    return [what](const Given& given) { return "/snapshots" + segment(given.id) + what; };
  };
  CLI::App& take = add(snapshot, "take", "Save the account and print the snapshot's id", "POST", "/snapshots",
                       [](const Given& given) { return Body().add("name", given.name).text(); });
  shows(take, ControlCommand::Shows::id);
  take.add_option("--name", given_->name, "Name of the snapshot")->type_name("NAME");
  lists(add(snapshot, "list", "List snapshots", "GET", "/snapshots"), "snapshots",
        "No snapshots in account {account}.");
  CLI::App& restore = add(snapshot, "restore", "Restore the account as it was", "POST", of_id("/restore"));
  CLI::App& remove = add(snapshot, "delete", "Delete a snapshot", "DELETE", of_id(""));
  says(remove, "Deleted.");
  for (CLI::App* command : {&restore, &remove})
    command->add_option("ID", given_->id, "Id that 'mayfly snapshot take' printed")->required();
  add(app_, "reset", "Delete an account's tables, snapshots and faults, and reset its clock", "POST",
      "/reset");
}

void Commands::add_streams() {
  CLI::App& stream = group("stream", "List, split and roll over the shards of a table's stream");
  const auto of_table = [](const std::string& what) {
    return [what](const Given& given) { return "/streams" + segment(given.table) + what; };
  };
  const auto body = [](const Given& given) { return Body().add("shard", given.shard).text(); };
  CLI::App& show = add(stream, "shards", "List shards, oldest first", "GET", of_table("/shards"));
  CLI::App& split =
      add(stream, "split", "Close shards; two new shards continue each", "POST", of_table("/split"), body);
  CLI::App& roll =
      add(stream, "roll", "Close shards; one new shard continues each", "POST", of_table("/roll"), body);
  for (CLI::App* command : {&show, &split, &roll}) {
    lists(*command, "shards", "No shards.");
    take_table(*command);
  }
  for (CLI::App* command : {&split, &roll})
    command->add_option("--shard", given_->shard, "Only this shard (default: all open shards)")
        ->type_name("ID");
}

void Commands::add_jobs() {
  const std::string when_empty = "No exports, imports or bulk puts in account {account}.";
  CLI::App& jobs = add(app_, "jobs", "Show the progress of exports, imports and bulk puts", "GET", "/jobs");
  jobs.require_subcommand(0, 1);
  jobs.add_flag("--watch", command_.watch, "Print progress until all jobs have ended");
  // add() has set another callback, which would run after that of a subcommand.
  jobs.callback([command = &command_, &jobs, when_empty] {
    if (!jobs.get_subcommands().empty()) return;
    command->method = "GET";
    command->path = "/_mayfly/jobs";
    command->shows = ControlCommand::Shows::jobs;
    command->when_empty = when_empty;
  });
  CLI::App& show = add(jobs, "show", "Print everything about a job", "GET",
                       [](const Given& given) { return "/jobs" + segment(given.id); });
  CLI::App& log = add(jobs, "log", "Print the errors that a job found in its input", "GET",
                      [](const Given& given) { return "/jobs" + segment(given.id) + "/log"; });
  lists(log, "lines", "The job's log is empty.");
  for (CLI::App* command : {&show, &log})
    command->add_option("ID", given_->id, "Id of the job, as 'mayfly jobs' prints it")->required();
  take_wait(
      add(jobs, "await", "Wait until all jobs have ended", "POST", "/jobs/await",
          [](const Given& given) { return Body().add_seconds("timeout_seconds", given.duration).text(); }),
      "Maximum time to wait (default: 30s)");
}

void Commands::add_replication() {
  CLI::App& replication =
      group("replication", "Delay or pause replication between the regions of global tables");
  add(replication, "show", "Print delays, pauses and pending writes", "GET", "/replication");
  CLI::App& set =
      add(replication, "set", "Delay, pause or resume replication", "PUT", "/replication",
          [](const Given& given) {
            Body body;
            body.add("from", given.from).add("to", given.to).add("lag_milliseconds", given.milliseconds);
            if (given.paused || given.resumed) body.set("paused", given.paused);
            return body.text();
          });
  set.add_option("--from", given_->from, "Source region (default: all)")->type_name("REGION");
  set.add_option("--to", given_->to, "Target region (default: all)")->type_name("REGION");
  set.add_option("--lag-ms", given_->milliseconds,
                 "Delay of each write in milliseconds, by the account's clock")
      ->check(whole_number());
  CLI::Option* pause = set.add_flag("--pause", given_->paused, "Hold all writes back");
  set.add_flag("--resume", given_->resumed, "Deliver the writes that were held back")->excludes(pause);
  says(add(replication, "settle", "Wait until all writes that can be delivered are delivered", "POST",
           "/replication/settle"),
       "Settled.");
  says(add(replication, "reset", "Remove all delays and pauses", "DELETE", "/replication"), "Reset.");
}

void Commands::add_functions() {
  lists(add(app_, "triggers", "Show event source mappings and their results", "GET", "/triggers"), "triggers",
        "No event source mappings in account {account}, region {region}.");
  CLI::App& function = group("function", "Register functions that event source mappings and Invoke call");
  const auto of_name = [](const Given& given) { return "/functions" + segment(given.name); };
  lists(add(function, "list", "List registered functions", "GET", "/functions"), "functions",
        "No functions in account {account}.");
  CLI::App& put =
      add(function, "put", "Register a function or change its URL", "PUT", of_name, [](const Given& given) {
        return Body().add("url", given.url).add_seconds("timeout_seconds", given.duration).text();
      });
  CLI::App& remove = add(function, "remove", "Remove a function", "DELETE", of_name);
  says(remove, "Removed.");
  for (CLI::App* command : {&put, &remove})
    command->add_option("NAME", given_->name, "Name of the function")->required();
  put.add_option("FUNCTION_URL", given_->url, "URL of the function, such as http://127.0.0.1:9000/")
      ->required();
  take_wait(put, "Time limit for one call (default: 60s)");
}

void Commands::add_faults() {
  CLI::App& faults = group("faults", "Make operations fail on purpose");
  const std::string none = "No fault rules in account {account}.";
  lists(add(faults, "show", "List fault rules and how often they struck", "GET", "/faults"), "rules", none);
  CLI::App& set = add(faults, "set", "Replace all fault rules", "PUT", "/faults", [](const Given& given) {
    Tree rules = Tree::array();
    if (!given.fault.empty()) {
      Body rule;
      rule.add("fault", given.fault).add("operation", given.operation).add("table", given.table);
      rule.add("exception", given.exception)
          .add("applied", given.applied)
          .add("count", given.count)
          .add("items", given.items);
      rule.add("writes", given.writes).add("milliseconds", given.milliseconds);
      rule.add("probability", given.probability).add("seed", given.seed);
      rules.push_back(json::raw(rule.text()));
    }
    for (const std::string& rule : given.rules) rules.push_back(json::raw(rule));
    return Body().set("rules", std::move(rules)).text();
  });
  lists(set, "rules", none);
  set.add_option("FAULT", given_->fault, alternatives(fault_kinds()))->check(one_of(fault_kinds()));
  set.add_option("--operation", given_->operation, "Only this operation, such as PutItem")->type_name("NAME");
  set.add_option("--table", given_->table, "Only this table")->type_name("TABLE");
  set.add_option("--count", given_->count, "Number of times it strikes (default: always)")
      ->check(whole_number());
  set.add_option("--probability", given_->probability, "Probability that it strikes, such as 0.1")
      ->check(between_decimals(0, 1));
  set.add_option("--seed", given_->seed, "Random seed for --probability and stale_reads")
      ->check(whole_number());
  set.add_option("--milliseconds", given_->milliseconds, "Delay of latency, or maximum lag of stale_reads")
      ->check(whole_number());
  set.add_option("--applied", given_->applied,
                 "Whether the operation takes effect although its response is lost or late")
      ->check(one_of({"true", "false"}));
  set.add_option("--writes", given_->writes, "Maximum lag of stale_reads, in commits")->check(whole_number());
  set.add_option("--items", given_->items, "Number of items that unprocessed leaves out")
      ->check(whole_number());
  set.add_option("--exception", given_->exception, "Exception that throttle returns")->type_name("NAME");
  set.add_option("--rule", given_->rules,
                 R"(Whole rule, such as '{"fault":"latency","milliseconds":200}'; can be repeated)")
      ->check(check_rule)
      ->allow_extra_args(false)
      ->type_name("JSON");
  set.footer("Example:\n  mayfly faults set throttle --operation PutItem --count 2");
  lists(add(faults, "clear", "Remove all fault rules", "DELETE", "/faults"), "rules", none);
}

void Commands::add_failpoints() {
  CLI::App& failpoint = group("failpoint", "Hold an item's expiry just before its deletion");
  const std::string none = "No failpoints in account {account}, region {region}.";
  const auto body = [](const Given& given) { return Body().add("table", given.table).text(); };
  CLI::App& list =
      add(failpoint, "list", "List failpoints and whether an expiry waits there", "GET", "/failpoints");
  CLI::App& arm = add(failpoint, "arm", "Hold the expiry of an item", "PUT", "/failpoints", body);
  take_table(arm);
  take_key(arm);
  CLI::App& release = add(failpoint, "release", "Let an expiry continue (without TABLE: all of them)",
                          "DELETE", "/failpoints", body);
  take_table(release, false);
  take_key(release, false);
  for (CLI::App* command : {&list, &arm, &release}) lists(*command, "failpoints", none);
}

void Commands::add_server() {
  add(app_, "calls", "List the calls of the control API", "GET", "/");
  lists(add(app_, "accounts", "List accounts and their tables", "GET", "/accounts"), "accounts",
        "No accounts.");
  add(app_, "health", "Print whether the server is healthy, and its version", "GET", "/health");
  CLI::App& metrics = add(app_, "metrics", "Print metrics in Prometheus' format", "GET", "/metrics");
  shows(metrics, ControlCommand::Shows::metrics);
  metrics.get_option("--json")->description("Print one JSON object");
}

}  // namespace

const std::vector<std::string>& fault_kinds() {
  static const std::vector<std::string> kinds = {"throttle",
                                                 "internal_server_error",
                                                 "latency",
                                                 "connection_closed",
                                                 "unprocessed",
                                                 "stale_reads",
                                                 "transaction_conflict",
                                                 "replicated_write_conflict"};
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

void add_control_commands(CLI::App& app, ControlCommand& command) {
  Commands commands(app, command);
  commands.add_clock();
  commands.add_ttl();
  commands.add_waiting();
  commands.add_snapshots();
  commands.add_streams();
  commands.add_jobs();
  commands.add_replication();
  commands.add_functions();
  commands.add_faults();
  commands.add_failpoints();
  commands.add_server();
}

}  // namespace mayfly::cli
