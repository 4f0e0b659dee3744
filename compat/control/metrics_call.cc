// GET /_mayfly/metrics: what a Prometheus server scrapes. Of all accounts, whoever asks.
#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "compat/backups/backups.h"
#include "compat/backups/restores.h"
#include "compat/control/handlers.h"
#include "compat/jobs/jobs.h"
#include "compat/metrics.h"
#include "compat/server_metrics.h"
#include "compat/triggers/triggers.h"
#include "engine/census.h"
#include "engine/expiry_view.h"
#include "engine/history.h"
#include "engine/recent_writes.h"
#include "engine/replication.h"

namespace mayfly::compat::control {
namespace {

class Text {
 public:
  explicit Text(std::string& out) : out_(out) {}

  void about(std::string_view name, std::string_view type, std::string_view help) {
    out_ += "# HELP ";
    out_ += name;
    out_ += ' ';
    out_ += help;
    out_ += "\n# TYPE ";
    out_ += name;
    out_ += ' ';
    out_ += type;
    out_ += '\n';
  }
  void sample(std::string_view name, std::string_view labels, std::int64_t value) {
    begin(name, labels);
    out_ += std::to_string(value) + '\n';
  }
  void sample(std::string_view name, std::string_view labels, double value) {
    begin(name, labels);
    out_ += number(value) + '\n';
  }
  static std::string number(double value) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
  }

 private:
  void begin(std::string_view name, std::string_view labels) {
    out_ += name;
    if (!labels.empty()) {
      out_ += '{';
      out_ += labels;
      out_ += '}';
    }
    out_ += ' ';
  }
  std::string& out_;
};

std::string label(std::string_view name, std::string_view value) {
  std::string text(name);
  text += "=\"";
  for (const char c : value) {
    if (c == '"' || c == '\\' || c == '\n') text += '\\';
    text += c == '\n' ? 'n' : c;
  }
  return text + '"';
}

void write_operations(Text& text, const Metrics& metrics) {
  const auto operations = all_operations();
  text.about("mayfly_operation_duration_seconds", "histogram", "How long operations took.");
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Metrics::Of& of = metrics.of(i);
    const std::string name = label("operation", operations[i]->name);
    std::int64_t count = 0;
    std::string buckets;
    std::vector<std::int64_t> cumulative;
    for (const auto& bucket : of.buckets)
      cumulative.push_back(count += bucket.load(std::memory_order_relaxed));
    if (count == 0) continue;
    for (std::size_t bucket = 0; bucket < Metrics::bucket_ends_us.size(); ++bucket) {
      text.sample(
          "mayfly_operation_duration_seconds_bucket",
          name + ',' + label("le", Text::number(static_cast<double>(Metrics::bucket_ends_us[bucket]) / 1e6)),
          cumulative[bucket]);
    }
    text.sample("mayfly_operation_duration_seconds_bucket", name + ",le=\"+Inf\"", count);
    text.sample("mayfly_operation_duration_seconds_sum", name,
                static_cast<double>(of.nanoseconds.load(std::memory_order_relaxed)) / 1e9);
    text.sample("mayfly_operation_duration_seconds_count", name, count);
  }
  text.about("mayfly_operation_errors_total", "counter", "Operations that failed, by who is to blame.");
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const std::string name = label("operation", operations[i]->name);
    const std::int64_t by_client = metrics.of(i).client_errors, by_server = metrics.of(i).server_errors;
    if (by_client > 0) text.sample("mayfly_operation_errors_total", name + ",by=\"client\"", by_client);
    if (by_server > 0) text.sample("mayfly_operation_errors_total", name + ",by=\"server\"", by_server);
  }
}

struct MeterLine {
  Meter meter;
  std::string_view name, labels, type, help;  // name, type and help of those that follow each other are one
};

constexpr std::string_view closed = "mayfly_connections_closed_total";
constexpr std::string_view closed_help = "Connections that the server closed for what their clients did.";

constexpr std::string_view waiting = "mayfly_requests_waiting";
constexpr std::string_view waiting_help = "Requests that wait for something.";
constexpr std::string_view refused = "mayfly_requests_refused_total";
constexpr std::string_view refused_help =
    "Requests answered 503, since there were too many or too large ones.";

// In the order of Meter; what has one name stands together.
constexpr MeterLine meters[] = {
    {Meter::connections, "mayfly_connections", "", "gauge", "Connections that are open."},
    {Meter::request_bytes, "mayfly_request_bytes", "", "gauge", "Bytes of large requests under way."},
    {Meter::unread_bytes, "mayfly_unread_bytes", "", "gauge",
     "Bytes of answers that clients have not taken."},
    {Meter::waiting_events, waiting, "kind=\"events\"", "gauge", waiting_help},
    {Meter::waiting_awaits, waiting, "kind=\"awaits\"", "gauge", waiting_help},
    {Meter::waiting_changes, waiting, "kind=\"changes\"", "gauge", waiting_help},
    {Meter::waiting_calls, waiting, "kind=\"calls\"", "gauge", waiting_help},
    {Meter::waiting_invocations, waiting, "kind=\"invocations\"", "gauge", waiting_help},
    {Meter::waiting_operations, waiting, "kind=\"operations\"", "gauge", waiting_help},
    {Meter::waiting_agents, waiting, "kind=\"agents\"", "gauge", waiting_help},
    {Meter::closed_idle, closed, "why=\"idle\"", "counter", closed_help},
    {Meter::closed_stalled, closed, "why=\"stalled\"", "counter", closed_help},
    {Meter::closed_slow, closed, "why=\"request_seconds\"", "counter", closed_help},
    {Meter::closed_unread, closed, "why=\"unread_bytes\"", "counter", closed_help},
    {Meter::refused_bytes, refused, "why=\"request_bytes\"", "counter", refused_help},
    {Meter::refused_waiting, refused, "why=\"waiting\"", "counter", refused_help},
    {Meter::accepts_failing, "mayfly_accepts_failing", "", "gauge",
     "Threads that can accept no connection: there are no descriptors or no memory."},
    {Meter::threads_failing, "mayfly_threads_failing", "", "gauge", "1 while no thread can be started."},
    {Meter::accept_failures, "mayfly_accept_failures_total", "", "counter",
     "How often a connection could not be accepted."},
    {Meter::thread_failures, "mayfly_thread_failures_total", "", "counter",
     "How often a thread could not be started."},
};

constexpr bool each_meter_has_its_line() {
  std::size_t place = 0;
  for (const MeterLine& line : meters)
    if (static_cast<std::size_t>(line.meter) != place++) return false;
  return place == static_cast<std::size_t>(Meter::count_);
}
static_assert(each_meter_has_its_line());

void write_server(Text& text, const ServerMetrics& metrics) {
  std::string_view last;
  for (const MeterLine& line : meters) {
    if (line.name != last) text.about(line.name, line.type, line.help);
    last = line.name;
    text.sample(line.name, line.labels, metrics.of(line.meter));
  }
}

struct TableLine {
  std::string labels;
  const engine::LiveTable* table;
};

void write_lags(Text& text, const std::vector<TableLine>& tables) {
  constexpr std::size_t step = 6;  // a bucket of ours is a quarter wider than the one before
  text.about("mayfly_expiry_lag_seconds", "histogram", "How long after an item was due it was deleted.");
  for (const auto& [labels, table] : tables) {
    const engine::ExpiryStats& stats = table->expiry_stats();
    if (stats.deleted() == 0) continue;
    std::int64_t count = 0;
    for (std::size_t bucket = 0; bucket < engine::ExpiryStats::bucket_count; ++bucket) {
      count += stats.in_bucket(bucket);
      if (bucket % step != step - 1) continue;
      const double end = static_cast<double>(engine::ExpiryStats::bucket_end_ms(bucket)) / 1000;
      text.sample("mayfly_expiry_lag_seconds_bucket", labels + ',' + label("le", Text::number(end)), count);
    }
    text.sample("mayfly_expiry_lag_seconds_bucket", labels + ",le=\"+Inf\"", count);
    text.sample("mayfly_expiry_lag_seconds_sum", labels, static_cast<double>(stats.lag_ms_total()) / 1000);
    text.sample("mayfly_expiry_lag_seconds_count", labels, count);
  }
}

void write_on_the_way(Text& text, const engine::Database& database) {
  const std::vector<engine::OnTheWay> ways = database.replication().on_the_way();
  const auto each = [&](std::string_view name, std::string_view help, auto value) {
    text.about(name, "gauge", help);
    for (const engine::OnTheWay& way : ways)
      text.sample(name,
                  label("account", way.account) + ',' + label("TableName", way.table) + ',' +
                      label("from", way.way.from) + ',' + label("to", way.way.to),
                  value(way));
  };
  each("mayfly_replication_pending", "Writes on their way to a replica; more than 100000 are not counted.",
       [](const engine::OnTheWay& way) { return way.writes; });
  each("mayfly_replication_age_seconds",
       "How long ago, by its account's clock, the oldest of them was written.",
       [&](const engine::OnTheWay& way) {
         const engine::Instant now = database.now(way.account);
         return static_cast<double>(now - way.oldest.value_or(now)) / 1000;
       });
}

}  // namespace

Result<json::Tree> show_metrics(Call& call) {
  call.answer.content_type = "text/plain; version=0.0.4";
  Text text(call.answer.body);
  write_operations(text, call.emulator.metrics());
  write_server(text, call.emulator.server_metrics());

  engine::Database& database = call.database();
  const std::vector<std::shared_ptr<engine::LiveTable>> live = engine::every_table(database);
  std::vector<TableLine> tables;
  for (const auto& table : live) {
    const auto description = table->description();
    tables.push_back({label("account", description->account) + ',' + label("region", description->region) +
                          ',' + label("TableName", description->name),
                      table.get()});
  }
  const auto each = [&](std::string_view name, std::string_view type, std::string_view help, auto value) {
    text.about(name, type, help);
    for (const auto& [labels, table] : tables) text.sample(name, labels, std::int64_t{value(*table)});
  };
  each("mayfly_table_items", "gauge", "Items in the table.",
       [](const auto& table) { return table.counter(0).items.load(); });
  each("mayfly_table_bytes", "gauge", "Bytes of the table's items.",
       [](const auto& table) { return table.counter(0).bytes.load(); });
  std::vector<engine::ExpiryTotals> totals;
  for (const auto& [labels, table] : tables) totals.push_back(engine::expiry_totals(database, *table));
  std::size_t at = 0;
  each("mayfly_expiry_pending", "gauge", "Items that will expire.",
       [&](const auto&) { return totals[at++].pending; });
  at = 0;
  each("mayfly_expiry_due", "gauge", "Items that are due and not yet deleted.",
       [&](const auto&) { return totals[at++].due; });
  each("TimeToLiveDeletedItemCount", "counter", "Items that expired, since the server started.",
       [](const auto& table) { return table.expiry_stats().deleted(); });
  each("mayfly_expiry_born_total", "counter", "Of them those that were due already when they were written.",
       [](const auto& table) { return table.expiry_stats().born_due(); });
  write_lags(text, tables);
  write_on_the_way(text, database);
  text.about("mayfly_storage_faults_total", "counter", "How often storage has failed.");
  text.sample("mayfly_storage_faults_total", "", static_cast<std::int64_t>(database.storage_faults()));
  text.about("mayfly_storage_failing", "gauge", "1 while storage takes no writes.");
  text.sample("mayfly_storage_failing", "", std::int64_t{database.storage_failure().empty() ? 0 : 1});
  text.about("mayfly_memory_bytes", "gauge", "Bytes that storage holds in memory.");
  text.sample("mayfly_memory_bytes", "", static_cast<std::int64_t>(database.memory_bytes()));
  text.about("mayfly_recent_write_bytes", "gauge", "Bytes of writes that are kept for stale reads.");
  text.sample("mayfly_recent_write_bytes", "", static_cast<std::int64_t>(database.recent_writes().bytes()));
  const auto one = [&](std::string_view name, std::string_view help, std::size_t value) {
    text.about(name, "gauge", help);
    text.sample(name, "", static_cast<std::int64_t>(value));
  };
  one("mayfly_accounts", "Accounts that requests have named.", call.emulator.accounts().count());
  one("mayfly_tables", "Tables, of all accounts and regions.", tables.size());
  std::size_t snapshots = 0;
  for (const std::string& account : engine::every_account(database))
    snapshots += database.list_snapshots(account).size();
  one("mayfly_snapshots", "Snapshots, of all accounts.", snapshots);
  const jobs::Jobs::Occupancy jobs = call.emulator.jobs().occupancy();
  one("mayfly_jobs_running", "Exports, imports and bulk puts that run.", jobs.running);
  one("mayfly_jobs_waiting", "The same that wait for their turn.", jobs.waiting);
  one("mayfly_backups", "Backups, of all accounts.", call.emulator.backups().count());
  one("mayfly_restores_running", "Restores that go on in the background.",
      call.emulator.restores().under_way());
  const engine::History::Footprint history = database.history().footprint();
  one("mayfly_history_versions", "Old versions of items that backups and recovery keep.",
      static_cast<std::size_t>(history.versions));
  one("mayfly_history_bytes", "Bytes of old versions of items.", static_cast<std::size_t>(history.bytes));
  one("mayfly_history_bytes_max", "How many bytes old versions may take (--history-max).",
      static_cast<std::size_t>(database.history().bytes_max()));
  one("mayfly_functions", "Functions that accounts have registered.",
      call.emulator.triggers().functions().count());
  one("mayfly_mappings", "Event source mappings, of all accounts.", call.emulator.triggers().count());
  text.about("mayfly_stream_records_total", "counter",
             "Sequence numbers that were ever given: to records of streams, and to commits "
             "whose old versions of items are kept.");
  text.sample("mayfly_stream_records_total", "", static_cast<std::int64_t>(database.published()));
  return json::Tree();
}

}  // namespace mayfly::compat::control
