#include "cli/sweep/sweep_command.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>

#include "cli/aws/client.h"
#include "cli/base/end_signals.h"
#include "cli/base/fail.h"
#include "cli/base/output.h"
#include "cli/sweep/plan.h"
#include "cli/sweep/process.h"
#include "cli/sweep/request_text.h"
#include "cli/sweep/scan.h"
#include "cli/sweep/sweep_clock.h"
#include "cli/sweep/table_facts.h"
#include "cli/views/answer_view.h"
#include "engine/base/random.h"
#include "http/endpoints/text_page.h"
#include "os/path.h"
#include "os/process.h"
#include "os/terminal.h"

namespace mayfly::sweep {

using cli::fail;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t tables_bytes_max = 1024 * 1024, tables_max = 100;
constexpr milliseconds end_poll{50};

// Returns an error message if two attributes have the same name, otherwise an empty string.
std::string same_twice(const TableCommand& table) {
  const Layout& layout = table.layout;
  std::set<std::string> names = {layout.ttl_attribute, layout.window_attribute};
  std::size_t count = 2;
  for (const std::string& name :
       {layout.looks_by_ttl() ? std::string() : layout.at_attribute, table.mark_attribute}) {
    if (name.empty()) continue;
    names.insert(name);
    ++count;
  }
  return names.size() == count ? "" : "TTL, window, sort key and mark must be different attributes";
}

// State that all parts of a command share.
struct Session {
  explicit Session(const SweepCommand& command)
      : command(command), journal(command.log_level), workers(command.workers) {}

  // The error is a human-readable sentence.
  Expected<void, std::string> open();

  const SweepCommand& command;
  Ending ending;
  Journal journal;
  std::shared_ptr<GuardedHostClock> host_clock;
  std::unique_ptr<aws::Client> client;
  std::unique_ptr<MayflyClock> mayfly_clock;
  std::vector<TableCommand> tables;
  cli::Workers workers;  // destroyed first

  [[nodiscard]] SweepClock& clock() {
    return mayfly_clock ? static_cast<SweepClock&>(*mayfly_clock) : *host_clock;
  }
};

Expected<void, std::string> Session::open() {
  TRY(tables, tables_of(command));
  TRY(aws::ClientOptions options, aws::client_options(command.given));
  host_clock = std::make_shared<GuardedHostClock>(command.clock_skew_max_seconds * 1000);
  options.hear_date = [clock = host_clock](const aws::HeardDate& date) { clock->hear(date); };
  options.wait = [this](milliseconds pause) { return ending.wait(pause); };
  TRY(client, aws::Client::open(std::move(options)));
  if (command.mayfly_clock) mayfly_clock = std::make_unique<MayflyClock>(*client);
  return {};
}

// Returns a name that is unique among all sweepers and among all runs of this sweeper.
std::string sweepers_name() {
  char number[32];
  std::snprintf(number, sizeof number, "%08x", static_cast<unsigned>(engine::SystemRandom().next()));
  return os::host_name() + ":" + std::to_string(os::process_id()) + ":" + number;
}

ProcessOptions process_options(const SweepCommand& command, const TableCommand& table) {
  return {.layout = table.layout,
          .departure = {.mark_attribute = table.mark_attribute, .dry_run = command.dry_run},
          .round = {.settle_seconds = command.settle_seconds,
                    .grace_seconds = std::max(command.grace_seconds, command.settle_seconds),
                    .dry_run = command.dry_run},
          .state_table = command.state_table,
          .me = sweepers_name(),
          .lease = milliseconds(static_cast<std::int64_t>(command.lease_seconds * 1000)),
          .look_back_seconds = command.look_back_seconds,
          .write_units_max = command.write_units_max,
          .once = command.once || command.dry_run,  // a second dry-run pass would find the same items again
          .polls_clock = command.mayfly_clock};
}

// Returns the result of one table, for --json.
Tree sweep_result(const Process& process, bool dry_run) {
  const Tally::Counts counts = process.tally().counts();
  return {{"table", process.table()},
          {dry_run ? "would_delete" : "deleted", counts.of(Outcome::deleted)},
          {"rearmed", counts.of(Outcome::rearmed)},
          {"lost", counts.of(Outcome::lost)},
          {"released", counts.of(Outcome::released)},
          {"failed", counts.of(Outcome::failed)},
          {"complete", process.went_well()}};
}

int sweep(Session& session, const cli::EndSignals& signals, Tree& results) {
  const SweepCommand& command = session.command;
  std::vector<std::unique_ptr<Process>> processes;
  for (const TableCommand& table : session.tables) {
    const auto facts = read_facts(*session.client, table.layout);
    if (!facts) return fail(facts.error());
    if (!facts->problem.empty())
      return fail("table " + table.layout.table + " cannot be swept: " + facts->problem);
    processes.push_back(std::make_unique<Process>(*session.client, session.clock(), session.workers,
                                                  session.journal, session.ending,
                                                  process_options(command, table), facts->key));
  }
  std::unique_ptr<http::TextPage> page;
  if (!command.metrics_address.empty()) {
    auto opened = http::TextPage::open(command.metrics_address, "/metrics", [&] {
      std::vector<NamedCounts> counts;
      for (const auto& process : processes) counts.push_back({process->table(), process->tally().counts()});
      return metrics_text(counts);
    });
    if (!opened) return fail(opened.error());
    page = *std::move(opened);
  }
  int code = 0;
  for (const auto& process : processes) {
    if (const auto started = process->start(); !started) {
      code = fail(started.error());
      session.ending.end();
      break;
    }
  }
  if (code == 0)
    session.journal.write(Journal::Level::info, "started",
                          {{"version", MAYFLY_VERSION},
                           {"endpoint", session.client->options().endpoint},
                           {"tables", processes.size()},
                           {"metrics_port", page ? page->port() : 0}});
  const auto all_over = [&] {
    return std::all_of(processes.begin(), processes.end(),
                       [](const auto& process) { return process->is_over(); });
  };
  while (code == 0 && !all_over() && !session.ending.ended())
    if (signals.wait(end_poll)) session.ending.end();
  bool stayed = false;  // whether a single pass left items that were due
  for (const auto& process : processes) {
    process->join();
    if (code != 0) continue;
    const Tally::Counts counts = process->tally().counts();
    session.journal.write(Journal::Level::info, "ended",
                          {{"table", process->table()},
                           {command.dry_run ? "would_delete" : "deleted", counts.of(Outcome::deleted)},
                           {"rearmed", counts.of(Outcome::rearmed)},
                           {"lost", counts.of(Outcome::lost)},
                           {"released", counts.of(Outcome::released)}});
    stayed = stayed || !process->went_well();
    results.push_back(sweep_result(*process, command.dry_run));
  }
  return stayed ? 1 : code;
}

// Returns the later of two windows: the latest watermark of all shards, and the window at which a new sweeper
// would begin.
std::int64_t watermark_of(const Session& session, State& state, const Layout& layout, engine::Instant now) {
  const std::int64_t first = window_of(now / 1000 - session.command.look_back_seconds, layout.window_seconds);
  const auto rows = state.read();
  if (!rows || rows->shards.empty()) return first;
  std::int64_t watermark = first;
  for (const auto& [shard, row] : rows->shards) watermark = std::max(watermark, row.watermark);
  return watermark;
}

int scan(Session& session, const TableCommand& table, Tree& results) {
  const SweepCommand& command = session.command;
  const bool plans = command.what == SweepCommand::What::plan;
  aws::Client& client = *session.client;
  auto facts = read_facts(client, table.layout);
  if (!facts) return fail(facts.error());
  State state(client, table.layout, command.state_table);
  bool has_state =
      client.call("DescribeTable", "{\"TableName\":" + json_text(command.state_table) + "}").has_value();
  if (plans && command.apply && (facts->isolation.empty() || is_safe_isolation(facts->isolation))) {
    if (!has_state) {
      if (const auto created = state.create(); !created)
        return fail("table " + command.state_table + ": " + created.error().sentence());
      has_state = true;
    }
    if (facts->index == TableFacts::Index::absent || facts->index == TableFacts::Index::building) {
      if (const auto created = create_index(client, table.layout, *facts); !created)
        return fail(created.error());
      facts = read_facts(client, table.layout);
      if (!facts) return fail(facts.error());
    }
    if (const auto agreed = state.agree_on_settings(); !agreed) return fail(agreed.error());
  }
  if (!plans && !has_state)
    return fail("there is no state table " + command.state_table +
                ". Create it with 'mayfly sweep plan --apply'");
  const auto now = session.clock().now();
  if (!now) return fail(now.error());

  Pace pace(command.write_units_max, [&](milliseconds time) { return session.ending.wait(time); });
  Departures departures(client, table.layout, facts->key, pace, {.mark_attribute = table.mark_attribute});
  ScanCounts counts;
  const bool draws = os::is_terminal_error() && !plans;
  const ScanOptions options{.segments = command.segments,
                            .arms = !plans && !command.dry_run,
                            .watermark = has_state ? watermark_of(session, state, table.layout, *now) : 0,
                            .now = *now};
  if (!plans || command.scans) {
    const auto progress = [&] {
      if (!draws) return;
      std::fprintf(stderr, "\r\x1b[K%s", progress_text(counts, facts->items).c_str());
    };
    const auto scanned = scan_table(client, table.layout, departures, options.arms ? &state : nullptr,
                                    session.workers, options, session.ending.ended(), counts, progress);
    if (draws) std::fputs("\r\x1b[K", stderr);
    if (!scanned) return fail(scanned.error());
    if (session.ending.ended()) return fail("interrupted; the next run continues from here");
  }
  if (plans) {
    const bool marks = !table.mark_attribute.empty();
    const milliseconds lease(static_cast<std::int64_t>(command.lease_seconds * 1000));
    const PlanView view{.layout = table.layout,
                        .facts = *facts,
                        .state_table_exists = has_state,
                        .state_table = command.state_table,
                        .counts = command.scans ? &counts : nullptr,
                        .costs = costs_of(*facts, counts, table.layout, lease, marks),
                        .marks = marks};
    if (command.json)
      results.push_back(plan_tree(view));
    else
      cli::print(cli::printable_lines(plan_text(view)));
    return 0;
  }
  const std::int64_t unplaced =
      counts.of(Standing::missing) + counts.of(Standing::late) + counts.of(Standing::passed);
  if (command.json) {
    results.push_back(
        {{"table", table.layout.table},
         {"scanned", counts.scanned.load()},
         {command.dry_run ? "would_arm" : "armed", command.dry_run ? unplaced : counts.armed.load()},
         {"failed", counts.failed.load()}});
  } else {
    cli::print(http::log::printable(table.layout.table) + ": " + progress_text(counts, counts.scanned) +
               "\n");
    if (command.dry_run) cli::print(std::to_string(unplaced) + " would be armed\n");
  }
  if (counts.failed > 0)
    return fail(std::to_string(counts.failed) + " items could not be armed. Run the command again");
  return 0;
}

}  // namespace

Expected<std::vector<TableCommand>, std::string> parse_tables(const std::string& text,
                                                              const TableCommand& defaults) {
  const auto tree = json::parse_tree(text);
  if (!tree || !tree->is_array() || tree->empty())
    return Unexpected{
        std::string(R"(must be a JSON array such as [{"table":"carts","ttl_attribute":"ttl"}])")};
  if (tree->size() > tables_max) return Unexpected{"has more than " + std::to_string(tables_max) + " tables"};
  std::vector<TableCommand> tables;
  std::set<std::string> names;
  for (const Tree& each : *tree) {
    TableCommand table = defaults;
    if (!each.is_object()) return Unexpected{std::string("has an entry that is not an object")};
    Layout& layout = table.layout;
    const std::pair<const char*, std::string*> texts[] = {{"table", &layout.table},
                                                          {"ttl_attribute", &layout.ttl_attribute},
                                                          {"index", &layout.index},
                                                          {"window_attribute", &layout.window_attribute},
                                                          {"at_attribute", &layout.at_attribute},
                                                          {"mark_attribute", &table.mark_attribute}};
    for (auto member = each.begin(); member != each.end(); ++member) {
      const std::string& name = member.key();
      const auto known = std::find_if(std::begin(texts), std::end(texts),
                                      [&](const auto& text_member) { return name == text_member.first; });
      const auto number = json::integer(member.value());
      if (known != std::end(texts) && member.value().is_string())
        *known->second = member.value().get<std::string>();
      else if (name == "window_seconds" && number && *number >= 1 && *number <= window_seconds_max)
        layout.window_seconds = *number;
      else if (name == "shards" && number && *number >= 1 && *number <= shards_max)
        layout.shards = static_cast<int>(*number);
      else
        return Unexpected{"has a table with an unknown or invalid member " + name};
    }
    if (layout.table.empty() || layout.ttl_attribute.empty())
      return Unexpected{std::string("has a table without 'table' or 'ttl_attribute'")};
    if (const std::string wrong = same_twice(table); !wrong.empty())
      return Unexpected{"has an invalid table: " + wrong};
    if (!names.insert(layout.table + "/" + layout.index).second)
      return Unexpected{"has table " + layout.table + " twice"};
    tables.push_back(std::move(table));
  }
  return tables;
}

Expected<std::vector<TableCommand>, std::string> tables_of(const SweepCommand& command) {
  const TableCommand given{command.layout, command.mark_attribute};
  if (command.tables_file.empty()) {
    if (given.layout.table.empty() || given.layout.ttl_attribute.empty())
      return Unexpected{std::string("--table and --ttl-attribute, or --tables, are required")};
    if (const std::string wrong = same_twice(given); !wrong.empty()) return Unexpected{wrong};
    return std::vector<TableCommand>{given};
  }
  std::ifstream file(os::path_of(command.tables_file), std::ios::binary);
  if (!file) return Unexpected{"cannot read " + command.tables_file};
  std::string text(tables_bytes_max + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > tables_bytes_max) return Unexpected{command.tables_file + " is larger than 1 MB"};
  auto tables = parse_tables(text, given);
  if (!tables) return Unexpected{command.tables_file + " " + tables.error()};
  return tables;
}

namespace {

int run(const SweepCommand& command, Tree& results) {
  // If work is abandoned, the leases expire on their own, as after kill -9.
  const cli::EndSignals signals(cli::EndSignals::Another::is_ignored, [] {
    return fail("interrupted while the endpoint did not respond; work in progress is abandoned");
  });
  os::let_writes_fail();
  Session session(command);
  if (const auto opened = session.open(); !opened) return fail(opened.error());
  if (command.what == SweepCommand::What::sweep) return sweep(session, signals, results);
  std::atomic<bool> done{false};
  std::thread watch([&] {
    while (!done && !session.ending.ended())
      if (signals.wait(end_poll)) session.ending.end();
  });
  int code = 0;
  for (const TableCommand& table : session.tables) code = std::max(code, scan(session, table, results));
  done = true;
  watch.join();
  return code;
}

}  // namespace

int run_sweep(const SweepCommand& command) {
  Tree results = Tree::array();
  const int code = run(command, results);
  if (command.json && (code == 0 || !results.empty()))
    cli::print(cli::print_json({{"tables", std::move(results)}}));
  return cli::printed(code);
}

}  // namespace mayfly::sweep
