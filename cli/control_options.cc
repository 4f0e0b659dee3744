#include "cli/control_options.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compat/control/call.h"
#include "compat/wire/json_tree.h"
#include "compat/wire/percent_encoding.h"

namespace mayfly::http {
namespace {

using json::Tree;

// What a command was given. Each reads what it has options for.
struct Given {
  std::string table, key, name, id, url, text, time, mode, event, by, from, to, since, operation, fault,
      exception, shard;
  std::vector<std::string> rules;
  std::vector<std::int64_t> delay;
  std::optional<std::int64_t> limit, window_seconds, count, seed, items, writes, milliseconds;
  std::optional<double> rate, probability;
  std::string duration;
  bool age_streams = false, settle = false, paused = false, resumed = false;
};

// The members that were given, as JSON.
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
  Body& add_json(const char* name, const std::string& text) {
    if (const auto tree = json::parse_tree(text, json::Decimals::as_written)) tree_[name] = *tree;
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

// --- what arguments may be

std::string check_json(const std::string& text) {
  return json::parse_tree(text) ? "" : "'" + text + R"(' is no JSON, such as '{"id":{"S":"1"}}')";
}

std::string check_duration(const std::string& text) {
  return seconds_of(text) ? "" : "'" + text + "' is no duration: 90s, 15m, 48h, 2d, 1h30m";
}

std::string check_advance(const std::string& text) {
  if (seconds_of(text) || text == "next-expiry" || compat::control::parse_time(text)) return {};
  const std::string ways = "90s, 15m, 48h, 2d; or a time such as 2031-01-01T00:00:00Z; or next-expiry";
  if (text.starts_with('-')) return "a clock goes forward, so not by " + text + ", but by " + ways;
  return "'" + text + "' is no way forward: " + ways;
}

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
  using Make = std::function<std::string(const Given& given)>;  // of a path or a body

  CLI::App& group(const std::string& name, const std::string& help) {
    return *app_.add_subcommand(name, help)->require_subcommand(1);
  }

  // `path` comes after /_mayfly.
  CLI::App& add(CLI::App& parent, const std::string& name, const std::string& help, const std::string& method,
                Make path, Make body = {}) {
    CLI::App* added = parent.add_subcommand(name, help);
    added->add_option("--url", command_.url, "The server")->envname("MAYFLY_URL")->capture_default_str();
    added
        ->add_option("--ca-file", command_.ca_file,
                     "Whose certificates an https:// server may show; without it, the system's issuers'")
        ->envname("MAYFLY_CA_FILE")
        ->type_name("FILE");
    added->add_option("--account", command_.account, "Account of twelve digits")->envname("MAYFLY_ACCOUNT");
    added->add_option("--region", command_.region, "Region")->envname("MAYFLY_REGION");
    added->callback(
        [filled = &command_, given = given_, method, path = std::move(path), body = std::move(body)] {
          filled->method = method;
          filled->path = "/_mayfly" + path(*given);
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
    to.add_option("table", given_->table, "Table")->required(required);
  }
  void take_key(CLI::App& to, bool required = true) {
    to.add_option("key", given_->key, R"(The item's, as DynamoDB's JSON: '{"id":{"S":"1"}}')")
        ->required(required)
        ->check(check_json);
  }
  void take_wait(CLI::App& to, const std::string& help) {
    to.add_option("--timeout", given_->duration, help)->check(check_duration)->type_name("DURATION");
  }

  CLI::App& app_;
  ControlCommand& command_;
  const std::shared_ptr<Given> given_;
};

std::string segment(const std::string& text) {
  std::string encoded = "/";
  compat::append_encoded(encoded, text, "");
  return encoded;
}

// ?a=b&c=d of what was given.
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
  CLI::App& clock = group("clock", "The account's time on a running server");
  const auto put = [this, &clock](const std::string& name, const std::string& help,
                                  const std::string& mode) -> CLI::App& {
    return add(clock, name, help, "PUT", "/clock", [mode](const Given& given) {
      return Body().add("mode", mode).add("now", given.time).add("rate", given.rate).text();
    });
  };
  add(clock, "show", "Its mode and its now", "GET", "/clock");
  put("freeze", "Let it stand still, now or at a time", "frozen")
      .add_option("time", given_->time, "2031-01-01T00:00:00Z");
  put("set", "Move it to a time", "").add_option("time", given_->time, "2031-01-01T00:00:00Z")->required();
  put("real", "The host's time", "real");
  put("rate", "Let it run so many times as fast", "rate")
      .add_option("rate", given_->rate, "60: an hour a minute")
      ->required();
  CLI::App& advance =
      add(clock, "advance", "Move it forward; what falls due on the way is deleted", "POST", "/clock/advance",
          [](const Given& given) {
            Body body;
            seconds_of(given.time) ? body.add_seconds("seconds", given.time) : body.add("to", given.time);
            if (given.age_streams) body.set("age_streams", true);
            if (given.settle) body.set("settle", "triggers");
            return body.text();
          });
  advance.add_option("by", given_->time, "90s, 15m, 48h, 2d; or a time; or next-expiry")
      ->required()
      ->check(check_advance);
  advance.add_flag("--age-streams", given_->age_streams, "Stream records and iterators age by the jump");
  advance.add_flag("--settle", given_->settle,
                   "Wait until replicas, functions, Kinesis destinations and jobs have all that is to come");
}

void Commands::add_ttl() {
  CLI::App& ttl = group("ttl", "What expires when, on a running server");
  const auto of_table = [](const std::string& what) {
    return [what](const Given& given) {
      return "/ttl" + (given.table.empty() ? "" : segment(given.table)) + what +
             query({{"limit", given.limit ? std::to_string(*given.limit) : ""},
                    {"window_seconds", given.window_seconds ? std::to_string(*given.window_seconds) : ""}});
    };
  };
  CLI::App& show = add(ttl, "show", "Modes, counts, lags and windows", "GET", of_table(""));
  take_table(show, false);
  show.add_option("--window-seconds", given_->window_seconds, "How long the windows are that are counted");
  CLI::App& set = add(ttl, "set", "When what is due is deleted", "PUT", of_table(""), [](const Given& given) {
    Body body;
    body.add("mode", given.mode).add("seed", given.seed);
    if (!given.delay.empty()) body.set("delay_seconds", given.delay);
    return body.text();
  });
  take_table(set);
  set.add_option("mode", given_->mode, "At once, late, or when told")
      ->required()
      ->check(CLI::IsMember({"exact", "aws", "manual"}));
  set.add_option("--delay", given_->delay, "Of aws: least and most seconds after due")->expected(2);
  set.add_option("--seed", given_->seed, "Of aws: what the delays are drawn from");
  take_table(add(ttl, "sweep", "Delete what is due, whatever the mode", "POST", of_table("/sweep")));
  CLI::App& upcoming = add(ttl, "upcoming", "What expires next", "GET", of_table("/upcoming"));
  take_table(upcoming);
  upcoming.add_option("--limit", given_->limit, "Items at most");
  CLI::App& explain =
      add(ttl, "explain", "Why an item is still there, or is not", "POST", of_table("/explain"),
          [](const Given& given) { return Body().add_json("key", given.key).text(); });
  take_table(explain);
  take_key(explain);
}

void Commands::add_waiting() {
  CLI::App& await = add(app_, "await", "Wait for a change of an item, and print its record", "POST", "/await",
                        [](const Given& given) {
                          return Body()
                              .add("table", given.table)
                              .add_json("key", given.key)
                              .add("event", given.event)
                              .add("by", given.by)
                              .add("since", given.since)
                              .add_seconds("timeout_seconds", given.duration)
                              .text();
                        });
  CLI::App& tail = add(app_, "tail", "Print changes as they commit", "GET", [](const Given& given) {
    return "/events" + query({{"table", given.table}, {"event", given.event}, {"by", given.by}});
  });
  tail.parse_complete_callback([command = &command_, given = given_] {
    command->shows = ControlCommand::Shows::changes;
    command->table = given->table;
  });
  take_table(await);
  take_key(await);
  take_table(tail, false);
  for (CLI::App* command : {&await, &tail}) {
    command->add_option("--event", given_->event, "Only these changes")
        ->check(CLI::IsMember({"INSERT", "MODIFY", "REMOVE"}));
    command->add_option("--by", given_->by, "Only by the user, or by the service: expired items")
        ->check(CLI::IsMember({"user", "service"}));
  }
  await.add_option("--since", given_->since,
                   "Also what the stream has from this time on: 2031-01-01T00:00:00Z");
  take_wait(await, "How long at most, in real time (5s)");
}

void Commands::add_snapshots() {
  CLI::App& snapshot = group("snapshot", "All of an account, kept and restored");
  const auto of_id = [](const std::string& what) {
    return [what](const Given& given) { return "/snapshots" + segment(given.id) + what; };
  };
  CLI::App& take = add(snapshot, "take", "Keep the account as it is; prints an id", "POST", "/snapshots",
                       [](const Given& given) { return Body().add("name", given.name).text(); });
  take.parse_complete_callback([command = &command_] { command->shows = ControlCommand::Shows::id; });
  take.add_option("--name", given_->name, "What people call it");
  add(snapshot, "list", "The ids and names of those that are kept", "GET", "/snapshots");
  for (CLI::App* command :
       {&add(snapshot, "restore", "Make the account what it was", "POST", of_id("/restore")),
        &add(snapshot, "delete", "Forget a snapshot", "DELETE", of_id(""))})
    command->add_option("id", given_->id, "As take printed it")->required();
  add(app_, "reset", "Empty the account: tables, streams, snapshots, faults, clock", "POST", "/reset");
}

void Commands::add_streams() {
  CLI::App& stream = group("stream", "The shards of a table's stream, which split and roll over when told");
  const auto of_table = [](const std::string& what) {
    return [what](const Given& given) { return "/streams" + segment(given.table) + what; };
  };
  const auto body = [](const Given& given) { return Body().add("shard", given.shard).text(); };
  take_table(add(stream, "shards", "All of them, oldest first", "GET", of_table("/shards")));
  for (CLI::App* command :
       {&add(stream, "split", "Close shards; two go on with half of each", "POST", of_table("/split"), body),
        &add(stream, "roll", "Close shards; one goes on with each", "POST", of_table("/roll"), body)}) {
    take_table(*command);
    command->add_option("--shard", given_->shard, "This one; without it, each that is open");
  }
}

void Commands::add_jobs() {
  CLI::App& jobs = add(app_, "jobs", "Exports, imports and bulk puts, and how far they are", "GET", "/jobs");
  jobs.require_subcommand(0, 1);
  jobs.add_flag("--watch", command_.watch, "Until all of them are over");
  // Its own callback would come after that of a subcommand.
  jobs.callback([command = &command_, &jobs] {
    if (!jobs.get_subcommands().empty()) return;
    command->method = "GET";
    command->path = "/_mayfly/jobs";
    command->shows = ControlCommand::Shows::jobs;
  });
  for (CLI::App* command : {&add(jobs, "show", "All that is known of one", "GET",
                                 [](const Given& given) { return "/jobs" + segment(given.id); }),
                            &add(jobs, "log", "What was wrong with what one read", "GET",
                                 [](const Given& given) { return "/jobs" + segment(given.id) + "/log"; })})
    command->add_option("id", given_->id, "As GET /_mayfly/jobs says it")->required();
  take_wait(
      add(jobs, "await", "Wait until all are over", "POST", "/jobs/await",
          [](const Given& given) { return Body().add_seconds("timeout_seconds", given.duration).text(); }),
      "How long at most (30s)");
}

void Commands::add_replication() {
  CLI::App& replication = group("replication", "How writes of global tables get from region to region");
  add(replication, "show", "Its ways, and what is on them", "GET", "/replication");
  CLI::App& set =
      add(replication, "set", "Slow a way down, stop it or open it", "PUT", "/replication",
          [](const Given& given) {
            Body body;
            body.add("from", given.from).add("to", given.to).add("lag_milliseconds", given.milliseconds);
            if (given.paused || given.resumed) body.set("paused", given.paused);
            return body.text();
          });
  set.add_option("--from", given_->from, "Region; without it, every one");
  set.add_option("--to", given_->to, "Region; without it, every one");
  set.add_option("--lag-ms", given_->milliseconds, "How long a write takes, by the account's clock");
  CLI::Option* pause = set.add_flag("--pause", given_->paused, "Nothing arrives");
  set.add_flag("--resume", given_->resumed, "What waited arrives")->excludes(pause);
  add(replication, "settle", "Wait for what may arrive by now", "POST", "/replication/settle");
  add(replication, "reset", "Every way is open, and without a lag", "DELETE", "/replication");
}

void Commands::add_functions() {
  add(app_, "triggers", "Event source mappings, and how each fares", "GET", "/triggers");
  CLI::App& function =
      group("function", "Where the functions are that event source mappings and Invoke call");
  const auto of_name = [](const Given& given) { return "/functions" + segment(given.name); };
  add(function, "list", "Those of the account", "GET", "/functions");
  CLI::App& put = add(function, "put", "Say where one is", "PUT", of_name, [](const Given& given) {
    return Body().add("url", given.url).add_seconds("timeout_seconds", given.duration).text();
  });
  CLI::App& remove = add(function, "remove", "Forget one", "DELETE", of_name);
  for (CLI::App* command : {&put, &remove})
    command->add_option("name", given_->name, "The function")->required();
  put.add_option("function-url", given_->url, "http://127.0.0.1:9000/")->required();
  take_wait(put, "How long it may take (60s)");
}

void Commands::add_faults() {
  CLI::App& faults = group("faults", "Rules by which operations fail");
  add(faults, "show", "The rules, and how often each struck", "GET", "/faults");
  CLI::App& set =
      add(faults, "set", "Have these rules and no others", "PUT", "/faults", [](const Given& given) {
        Tree rules = Tree::array();
        if (!given.fault.empty()) {
          Body rule;
          rule.add("fault", given.fault).add("operation", given.operation).add("table", given.table);
          rule.add("exception", given.exception).add("count", given.count).add("items", given.items);
          rule.add("writes", given.writes).add("milliseconds", given.milliseconds);
          rule.add("probability", given.probability).add("seed", given.seed);
          rules.push_back(json::raw(rule.text()));
        }
        for (const std::string& rule : given.rules) rules.push_back(json::raw(rule));
        return Body().set("rules", std::move(rules)).text();
      });
  set.add_option("fault", given_->fault,
                 "throttle, internal_server_error, latency, unprocessed, "
                 "transaction_conflict, stale_reads or replicated_write_conflict");
  set.add_option("--operation", given_->operation, "Only of this operation");
  set.add_option("--table", given_->table, "Only of this table");
  set.add_option("--count", given_->count, "How often it strikes");
  set.add_option("--probability", given_->probability, "It strikes now and then: 0.1");
  set.add_option("--seed", given_->seed, "When, if now and then, and how far");
  set.add_option("--milliseconds", given_->milliseconds, "Of latency and stale_reads");
  set.add_option("--writes", given_->writes, "Of stale_reads: how many commits reads may be behind");
  set.add_option("--items", given_->items, "Of unprocessed: how many");
  set.add_option("--exception", given_->exception, "Of throttle: which");
  set.add_option("--rule", given_->rules,
                 R"(A whole rule: '{"fault":"latency","milliseconds":200}'; may be repeated)")
      ->check(check_json)
      ->allow_extra_args(false);
  add(faults, "clear", "Have none", "DELETE", "/faults");
}

void Commands::add_failpoints() {
  CLI::App& failpoint =
      group("failpoint", "Where an expiry stops between the moment an item is due and its deletion");
  const auto body = [](const Given& given) {
    return Body().add("table", given.table).add_json("key", given.key).text();
  };
  add(failpoint, "list", "Those that are armed, and who waits there", "GET", "/failpoints");
  CLI::App& arm = add(failpoint, "arm", "Stop the expiry of an item", "PUT", "/failpoints", body);
  take_table(arm);
  take_key(arm);
  CLI::App& release =
      add(failpoint, "release", "Let it go on; without a table, all", "DELETE", "/failpoints", body);
  take_table(release, false);
  take_key(release, false);
}

void Commands::add_server() {
  add(app_, "calls", "What there is under /_mayfly/", "GET", "/");
  add(app_, "accounts", "The accounts that there are, and their tables", "GET", "/accounts");
  add(app_, "health", "Whether the server is well, and its version", "GET", "/health");
  add(app_, "metrics", "Counts and times, as Prometheus reads them", "GET", "/metrics");
}

}  // namespace

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

}  // namespace mayfly::http
