// POST /_mayfly/await: waits for a change of one item, so that no test sleeps.
//
// {"table":"carts","key":{"id":{"S":"1"}},"event":"REMOVE","by":"service","timeout_seconds":5} ->
// {"record":{"eventName":"REMOVE",…}}
//
// Changes count from the call on; with "since", also those of the table's stream from that time on. When time
// is up: 408, with what did happen to the item in "records".
#include <condition_variable>
#include <deque>
#include <nlohmann/json.hpp>
#include <set>

#include "compat/control/handlers.h"
#include "compat/items/keys.h"
#include "compat/streams/record.h"
#include "compat/wire/json.h"
#include "engine/mutex.h"

namespace mayfly::compat::control {
namespace {

constexpr double timeout_seconds_default = 5;
constexpr double timeout_seconds_max = 600;
constexpr std::size_t records_max = 100;  // of an answer that time is up
constexpr std::size_t stream_page_records = 1000;
constexpr std::size_t stream_page_bytes = 1024 * 1024;

struct Wanted {
  std::string table_name;
  std::string key;
  std::optional<engine::ChangeRecord::Kind> kind;
  std::optional<engine::Cause> cause;

  [[nodiscard]] bool is_of(const engine::Table& table, std::string_view other_key,
                           const engine::Scope& scope) const {
    return other_key == key && table.name == table_name && table.account == scope.account &&
           table.region == scope.region;
  }
  [[nodiscard]] bool fits(engine::ChangeRecord::Kind its_kind, engine::Cause its_cause) const {
    return (!kind || its_kind == *kind) && (!cause || its_cause == *cause);
  }
};

// What was told of the item since the subscription: the first change that is wanted, and what came before it.
struct Inbox {
  engine::Mutex mutex;
  std::condition_variable_any came;
  std::optional<engine::KeptChange> found GUARDED_BY(mutex);
  std::deque<engine::KeptChange> others GUARDED_BY(mutex);  // the last `records_max`

  void put(const engine::Change& change, bool wanted) {
    const engine::Lock lock(mutex);
    if (found) return;
    if (wanted) {
      found.emplace(change);
      came.notify_all();
      return;
    }
    if (others.size() == records_max) others.pop_front();
    others.emplace_back(change);
  }
};

Result<std::optional<engine::ChangeRecord::Kind>> read_event(Fields& body) {
  TRY(const auto name, body.string("event"));
  if (!name) return std::optional<engine::ChangeRecord::Kind>();
  for (const auto kind : {engine::ChangeRecord::Kind::insert, engine::ChangeRecord::Kind::modify,
                          engine::ChangeRecord::Kind::remove}) {
    if (event_name(kind) == *name) return std::optional(kind);
  }
  return error::validation("event must be INSERT, MODIFY or REMOVE.");
}

Result<std::optional<engine::Cause>> read_by(Fields& body) {
  TRY(const auto name, body.string("by"));
  if (!name) return std::optional<engine::Cause>();
  if (*name == "user") return std::optional(engine::Cause::user);
  if (*name == "service") return std::optional(engine::Cause::time_to_live);
  return error::validation("by must be user or service.");
}

json::Tree answer_with(const ToldChange& change) {
  std::string record;
  json::Writer out(record);
  write_stream_record(out, change.stream, change.record);
  return {{"record", json::raw(record)}};
}

Unexpected<Error> time_is_up(const std::deque<ToldChange>& happened, double seconds) {
  std::string records;
  json::Writer out(records);
  out.begin_array();
  for (const ToldChange& change : happened) write_stream_record(out, change.stream, change.record);
  out.end_array();
  std::string message =
      happened.empty() ? "Nothing happened to the item" : "Only other changes happened to the item";
  char text[32];
  std::snprintf(text, sizeof text, "%g", seconds);
  message += std::string(" in ") + text + " seconds.";
  return Unexpected{Error{
      .kind = Error::Kind::timed_out, .message = std::move(message), .extra = "\"records\":" + records}};
}

void note(std::deque<ToldChange>& happened, ToldChange change) {
  if (happened.size() == records_max) happened.pop_front();
  happened.push_back(std::move(change));
}

// Reads what the stream has of the item from `since` on; the change that is waited for, if it is there.
// `seen`: what was read of the item, and may be told as well.
std::optional<ToldChange> look_back(Call& call, const engine::Table& table, const Wanted& wanted,
                                    engine::Instant since, std::deque<ToldChange>& happened,
                                    std::set<engine::Sequence>& seen) {
  engine::Database& database = call.database();
  const auto stream = database.find_stream(call.scope, table.name, table.stream->label);
  if (!stream) return std::nullopt;
  // An item's records are in one open shard at a time, and a child's number is higher than its parent's.
  for (const engine::Shard& shard : stream->shards) {
    for (engine::Sequence from = database.oldest_sequence(stream->id, shard.number);;) {
      auto page =
          database.read_stream(stream->id, shard.number, from, stream_page_records, stream_page_bytes);
      for (engine::ChangeRecord& record : page.records) {
        if (record.created < since || encode_key(table, record.keys) != wanted.key) continue;
        seen.insert(record.sequence);
        ToldChange change{.table_name = table.name, .stream = *stream, .record = std::move(record)};
        if (wanted.fits(change.record.kind, change.record.cause)) return change;
        note(happened, std::move(change));
      }
      if (page.at_end) break;
      from = page.next;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<json::Tree> await_change(Call& call) {
  TRY(const std::string table_name, call.body.required_string("table"));
  call.body.any("key");
  TRY(const auto kind, read_event(call.body));
  TRY(const auto cause, read_by(call.body));
  TRY(const auto timeout, call.body.number("timeout_seconds", 0, timeout_seconds_max));
  TRY(const auto since, call.body.time("since"));
  CHECK_OK(call.body.nothing_else());
  TRY(const auto table, call.table(table_name));
  const auto description = table->description();
  TRY(std::string item_key, call.item_key(*description));
  const Wanted wanted{table_name, std::move(item_key), kind, cause};
  if (since && !description->stream) {
    return error::validation("since needs a stream, and the table " + table_name + " has none enabled.");
  }

  Inbox inbox;
  auto subscription = call.database().subscribe([&](const engine::Change& change) {
    if (wanted.is_of(*change.table, change.key, call.scope))
      inbox.put(change, wanted.fits(change.kind, change.cause));
  });

  std::deque<ToldChange> happened;
  std::set<engine::Sequence> seen;
  if (since) {
    if (const auto change = look_back(call, *description, wanted, *since, happened, seen)) {
      return answer_with(*change);
    }
  }

  const double seconds = timeout.value_or(timeout_seconds_default);
  {
    engine::Lock lock(inbox.mutex);
    inbox.came.wait_for(lock, call.stop, std::chrono::duration<double>(seconds),
                        [&]() REQUIRES(inbox.mutex) { return inbox.found.has_value(); });
  }
  subscription.end();
  const engine::Lock lock(inbox.mutex);  // nobody else takes it any more
  if (inbox.found) {
    return answer_with(told(inbox.found->change()));
  }
  if (call.stop.stop_requested()) return stopped();
  for (const engine::KeptChange& other : inbox.others)
    if (!seen.contains(other.sequence.value_or(0))) note(happened, told(other.change()));
  return time_is_up(happened, seconds);
}

}  // namespace mayfly::compat::control
