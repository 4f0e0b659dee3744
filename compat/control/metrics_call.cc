// GET /_mayfly/metrics: metrics of all accounts for a Prometheus server, for any caller.
//
// Some series exist for each table, and there can be many thousands of tables. The page is therefore produced
// in pieces of about 64 KB while the page is sent. Each piece has the values at the time when the piece is
// produced. A scrape holds one piece and a list of the tables in memory.
#include <algorithm>
#include <charconv>
#include <functional>
#include <nlohmann/json.hpp>

#include "compat/backups/backups.h"
#include "compat/backups/restores.h"
#include "compat/control/families.h"
#include "compat/jobs/jobs.h"
#include "compat/metrics.h"
#include "compat/server_metrics.h"
#include "compat/triggers/triggers.h"
#include "engine/background/history.h"
#include "engine/background/history_size.h"
#include "engine/background/replication.h"
#include "engine/background/snapshots.h"
#include "engine/items/expiry_view.h"
#include "engine/items/recent_writes.h"
#include "engine/tables/catalog.h"
#include "os/memory.h"

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
  text.about("mayfly_operation_duration_seconds", "histogram", "Duration of operations.");
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
  text.about("mayfly_operation_errors_total", "counter",
             "Failed operations, by whether the client or the server caused the error.");
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const std::string name = label("operation", operations[i]->name);
    const std::int64_t by_client = metrics.of(i).client_errors, by_server = metrics.of(i).server_errors;
    if (by_client > 0) text.sample("mayfly_operation_errors_total", name + ",by=\"client\"", by_client);
    if (by_server > 0) text.sample("mayfly_operation_errors_total", name + ",by=\"server\"", by_server);
  }
}

struct MeterLine {
  Meter meter;
  std::string_view name, labels, type, help;  // consecutive lines with the same name share type and help
};

constexpr std::string_view closed = "mayfly_connections_closed_total";
constexpr std::string_view closed_help = "Connections that the server closed because of their clients.";

constexpr std::string_view waiting = "mayfly_requests_waiting";
constexpr std::string_view waiting_help = "Requests that are waiting, by kind.";
constexpr std::string_view refused = "mayfly_requests_refused_total";
constexpr std::string_view refused_help = "Requests that were rejected with 503 because of a limit.";

// The lines are in the order of Meter. Lines with the same name are adjacent.
constexpr MeterLine meters[] = {
    {Meter::connections, "mayfly_connections", "", "gauge", "Open connections."},
    {Meter::request_bytes, "mayfly_request_bytes", "", "gauge", "Bytes of large requests in flight."},
    {Meter::unread_bytes, "mayfly_unread_bytes", "", "gauge",
     "Bytes of responses that clients have not read yet."},
    {Meter::waiting_events, waiting, "kind=\"events\"", "gauge", waiting_help},
    {Meter::waiting_awaits, waiting, "kind=\"awaits\"", "gauge", waiting_help},
    {Meter::waiting_changes, waiting, "kind=\"changes\"", "gauge", waiting_help},
    {Meter::waiting_calls, waiting, "kind=\"calls\"", "gauge", waiting_help},
    {Meter::waiting_invocations, waiting, "kind=\"invocations\"", "gauge", waiting_help},
    {Meter::waiting_operations, waiting, "kind=\"operations\"", "gauge", waiting_help},
    {Meter::waiting_agents, waiting, "kind=\"agents\"", "gauge", waiting_help},
    {Meter::waiting_locks, waiting, "kind=\"locks\"", "gauge", waiting_help},
    {Meter::waiting_processors, waiting, "kind=\"processors\"", "gauge", waiting_help},
    {Meter::handed_over, "mayfly_requests_handed_over_total", "", "counter",
     "Requests that an io thread began and handed over because they took too long or had to wait."},
    {Meter::closed_idle, closed, "why=\"idle\"", "counter", closed_help},
    {Meter::closed_stalled, closed, "why=\"stalled\"", "counter", closed_help},
    {Meter::closed_slow, closed, "why=\"request_seconds\"", "counter", closed_help},
    {Meter::closed_unread, closed, "why=\"unread_bytes\"", "counter", closed_help},
    {Meter::refused_bytes, refused, "why=\"request_bytes\"", "counter", refused_help},
    {Meter::refused_waiting, refused, "why=\"waiting\"", "counter", refused_help},
    {Meter::accepts_failing, "mayfly_accepts_failing", "", "gauge",
     "Threads that cannot accept connections because descriptors or memory ran out."},
    {Meter::threads_failing, "mayfly_threads_failing", "", "gauge", "1 while threads cannot be started."},
    {Meter::accept_failures, "mayfly_accept_failures_total", "", "counter",
     "Failed attempts to accept a connection."},
    {Meter::thread_failures, "mayfly_thread_failures_total", "", "counter",
     "Failed attempts to start a thread."},
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

struct TableSeries {
  std::string_view name, type, help;
  std::int64_t (*value)(const engine::LiveTable&);
};
constexpr TableSeries sizes[] = {
    {"mayfly_table_items", "gauge", "Items in the table.",
     [](const engine::LiveTable& table) -> std::int64_t { return table.counter(0).items; }},
    {"mayfly_table_bytes", "gauge", "Bytes of the table's items.",
     [](const engine::LiveTable& table) -> std::int64_t { return table.counter(0).bytes; }},
};
constexpr TableSeries deletions[] = {
    {"TimeToLiveDeletedItemCount", "counter", "Items that have expired since the server started.",
     [](const engine::LiveTable& table) -> std::int64_t { return table.expiry_stats().deleted(); }},
    {"mayfly_expiry_born_total", "counter",
     "Expired items whose TTL had already passed when they were written.",
     [](const engine::LiveTable& table) -> std::int64_t { return table.expiry_stats().born_due(); }},
};

std::string labels_of(const engine::LiveTable& table) {
  const auto description = table.description();
  return label("account", description->account) + ',' + label("region", description->region) + ',' +
         label("TableName", description->name);
}

void write_lag(Text& text, const engine::LiveTable& table) {
  // Shows every sixth bucket. Each bucket is a quarter wider than the previous one.
  constexpr std::size_t step = 6;
  const engine::ExpiryStats& stats = table.expiry_stats();
  if (stats.deleted() == 0) return;
  const std::string labels = labels_of(table);
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

std::string labels_of(const engine::InFlight& flight) {
  return label("account", flight.account) + ',' + label("TableName", flight.table) + ',' +
         label("from", flight.route.from) + ',' + label("to", flight.route.to);
}

void write_rest(Text& text, Emulator& emulator, std::size_t tables) {
  engine::Database& database = emulator.database();
  text.about("mayfly_storage_faults_total", "counter", "Failed storage operations.");
  text.sample("mayfly_storage_faults_total", "", static_cast<std::int64_t>(database.health().faults()));
  text.about("mayfly_storage_failing", "gauge", "1 while storage is read-only.");
  text.sample("mayfly_storage_failing", "", std::int64_t{database.health().failure().empty() ? 0 : 1});
  text.about("mayfly_memory_bytes", "gauge", "Memory that storage uses, in bytes.");
  text.sample("mayfly_memory_bytes", "", static_cast<std::int64_t>(database.health().footprint_bytes()));
  text.about("mayfly_resident_bytes", "gauge",
             "Resident memory of the process in bytes, without mapped files; 0 if unknown.");
  text.sample("mayfly_resident_bytes", "", static_cast<std::int64_t>(os::resident_memory_bytes()));
  text.about("mayfly_recent_write_bytes", "gauge", "Bytes of recent writes that are kept for stale reads.");
  text.sample("mayfly_recent_write_bytes", "", static_cast<std::int64_t>(database.recent_writes().bytes()));
  text.about("mayfly_event_bytes", "gauge", "Bytes of changes that event streams have not delivered yet.");
  text.sample("mayfly_event_bytes", "", static_cast<std::int64_t>(emulator.live_changes().held_bytes()));
  const auto one = [&](std::string_view name, std::string_view help, std::size_t value) {
    text.about(name, "gauge", help);
    text.sample(name, "", static_cast<std::int64_t>(value));
  };
  one("mayfly_accounts", "Accounts that have been used in requests.", emulator.accounts().count());
  one("mayfly_tables", "Tables of all accounts and regions.", tables);
  std::size_t snapshots = 0;
  for (const std::string& account : database.accounts().ids())
    snapshots += database.snapshots().list(account).size();
  one("mayfly_snapshots", "Snapshots of all accounts.", snapshots);
  const jobs::Jobs::Occupancy jobs = emulator.jobs().occupancy();
  one("mayfly_jobs_running", "Running exports, imports and bulk puts.", jobs.running);
  one("mayfly_jobs_waiting", "Exports, imports and bulk puts that are waiting to run.", jobs.waiting);
  one("mayfly_backups", "Backups of all accounts.", emulator.backups().count());
  one("mayfly_restores_running", "Restores running in the background.", emulator.restores().under_way());
  const engine::HistorySize::Footprint history = database.history_size().footprint();
  one("mayfly_history_versions", "Old item versions that are kept for backups and recovery.",
      static_cast<std::size_t>(history.versions));
  one("mayfly_history_bytes", "Bytes of old item versions.", static_cast<std::size_t>(history.bytes));
  one("mayfly_history_bytes_max", "Limit for the bytes of old item versions (--history-max).",
      static_cast<std::size_t>(database.history_size().bytes_max()));
  one("mayfly_functions", "Registered functions of all accounts.", emulator.triggers().functions().count());
  one("mayfly_mappings", "Event source mappings of all accounts.", emulator.triggers().count());
  text.about("mayfly_stream_records_total", "counter",
             "Sequence numbers assigned so far, to stream records and to commits whose old item versions "
             "are kept.");
  text.sample("mayfly_stream_records_total", "", static_cast<std::int64_t>(database.watermark().published()));
}

class Page final : public BodySource {
 public:
  explicit Page(Emulator& emulator) : emulator_(emulator), tables_(emulator.database().catalog().tables()) {
    add([this](Text& text) { write_operations(text, emulator_.metrics()); });
    add([this](Text& text) { write_server(text, emulator_.server_metrics()); });
    for (const TableSeries& series : sizes) add_series(series);
    add([](Text& text) { text.about("mayfly_expiry_pending", "gauge", "Items that will expire."); });
    add_for_each(tables_, [this](Text& text, const auto& table) {
      const engine::ExpiryTotals totals = emulator_.database().expiries().totals(*table);
      text.sample("mayfly_expiry_pending", labels_of(*table), totals.pending);
      due_.push_back(totals.due);
    });
    add([](Text& text) {
      text.about("mayfly_expiry_due", "gauge", "Expired items that are not deleted yet.");
    });
    add_for_each(tables_, [this](Text& text, const auto& table) {
      text.sample("mayfly_expiry_due", labels_of(*table), due_[line_]);
    });
    for (const TableSeries& series : deletions) add_series(series);
    add([](Text& text) {
      text.about("mayfly_expiry_lag_seconds", "histogram", "Time between an item's expiry and its deletion.");
    });
    add_for_each(tables_, [](Text& text, const auto& table) { write_lag(text, *table); });
    add([this](Text& text) {
      in_flight_ = emulator_.database().replication().in_flight();
      text.about("mayfly_replication_pending", "gauge",
                 "Writes in flight to a replica, counted up to 100000.");
    });
    add_for_each(in_flight_, [](Text& text, const engine::InFlight& flight) {
      text.sample("mayfly_replication_pending", labels_of(flight), flight.writes);
    });
    add([](Text& text) {
      text.about("mayfly_replication_age_seconds", "gauge",
                 "Age of the oldest write in flight to a replica, by the account's clock.");
    });
    add_for_each(in_flight_, [this](Text& text, const engine::InFlight& flight) {
      const engine::Instant now = emulator_.database().accounts().of(flight.account).now();
      text.sample("mayfly_replication_age_seconds", labels_of(flight),
                  static_cast<double>(now - flight.oldest.value_or(now)) / 1000);
    });
    add([this](Text& text) { write_rest(text, emulator_, tables_.size()); });
  }

  bool next(std::string& piece, const std::stop_token&) override {
    // A piece can exceed this limit by at most one line, or by one part that is not divided into lines.
    constexpr std::size_t piece_bytes_max = 64 * 1024;
    Text text(piece);
    const std::size_t bytes_max = piece.size() + piece_bytes_max;
    while (part_ < parts_.size() && piece.size() < bytes_max) {
      if (parts_[part_](text)) continue;
      ++part_;
      line_ = 0;
    }
    return part_ < parts_.size();
  }
  [[nodiscard]] bool waits() const override { return false; }

 private:
  using Part = std::function<bool(Text&)>;  // false: the part is complete

  template <class Write>
  void add(Write write) {
    parts_.push_back([write](Text& text) {
      write(text);
      return false;
    });
  }
  template <class List, class Write>
  void add_for_each(const List& list, Write write) {
    parts_.push_back([this, &list, write](Text& text) {
      if (line_ == list.size()) return false;
      write(text, list[line_]);
      ++line_;
      return true;
    });
  }
  void add_series(const TableSeries& series) {
    add([&series](Text& text) { text.about(series.name, series.type, series.help); });
    add_for_each(tables_, [&series](Text& text, const auto& table) {
      text.sample(series.name, labels_of(*table), series.value(*table));
    });
  }

  Emulator& emulator_;
  const std::vector<std::shared_ptr<engine::LiveTable>> tables_;
  std::vector<std::int64_t> due_;
  std::vector<engine::InFlight> in_flight_;
  std::vector<Part> parts_;
  std::size_t part_ = 0;
  std::size_t line_ = 0;  // the next line of a part that has one line for each table or route
};

Result<json::Tree> show_metrics(Call& call) {
  call.answer.content_type = "text/plain; version=0.0.4";
  auto page = std::make_shared<Page>(call.emulator);
  if (call.in_pieces) {
    call.answer.source = std::move(page);
  } else {
    while (page->next(call.answer.body, call.stop)) {}
  }
  return json::Tree();
}

}  // namespace

std::span<const ControlCall> metrics_calls() {
  static constexpr ControlCall calls[] = {
      {.method = "GET",
       .path = "/_mayfly/metrics",
       .name = "metrics",
       .about = "Get metrics in Prometheus format",
       .answer_type = "text/plain",
       .handle = &show_metrics,
       .is_tool = false,  // agents have a separate tool, which filters the lines
       .command = "metrics"},
  };
  return calls;
}

}  // namespace mayfly::compat::control
