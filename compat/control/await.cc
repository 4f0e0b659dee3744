// POST /_mayfly/await: waits for a change to one item, so that tests need not sleep.
//
//   {"table":"carts","key":{"id":{"S":"1"}},"event":"REMOVE","by":"service","timeout_seconds":5}
//   -> {"record":{"eventName":"REMOVE",…}}
//
// Changes count if they happen after the call starts. With "since", earlier changes in the table's stream
// count as well, back to that time. If the time runs out, the response is 408. Its message explains the
// item's TTL, "records" has the item's changes that did happen, and "left_out" counts older changes that are
// not in "records", if any.
#include <condition_variable>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "compat/control/change_choices.h"
#include "compat/control/explanation.h"
#include "compat/control/families.h"
#include "compat/items/keys.h"
#include "compat/json/json.h"
#include "compat/streams/record.h"
#include "compat/streams/told_change.h"
#include "compat/tables/ttl_mistakes.h"
#include "engine/base/mutex.h"
#include "engine/items/item_reader.h"

namespace mayfly::compat::control {
namespace {

constexpr double timeout_seconds_default = 5;
constexpr double timeout_seconds_max = 600;
// Limits on a time-out response, and on the changes that are kept for it.
constexpr std::size_t records_max = 100;
constexpr std::size_t records_bytes_max = 1024 * 1024;
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

// Keeps the item's last changes, within the limits on a response, and always keeps the very last change.
// Drops older changes and counts them.
template <class T>
class LastChanges {
 public:
  void add(T change, std::size_t bytes) {
    bytes_ += bytes;
    kept_.push_back({std::move(change), bytes});
    while (kept_.size() > records_max || (bytes_ > records_bytes_max && kept_.size() > 1)) {
      bytes_ -= kept_.front().bytes;
      kept_.pop_front();
      ++left_out_;
    }
  }
  void leave_out(std::size_t changes) { left_out_ += changes; }

  template <class Visit>
  void each(Visit visit) const {
    for (const Kept& kept : kept_) visit(kept.change);
  }
  [[nodiscard]] bool empty() const { return kept_.empty(); }
  [[nodiscard]] std::size_t left_out() const { return left_out_; }

 private:
  struct Kept {
    T change;
    std::size_t bytes;
  };
  std::deque<Kept> kept_;
  std::size_t bytes_ = 0, left_out_ = 0;
};

// The item's changes that were reported since the subscription began: the first wanted change, and the other
// changes before it.
struct Inbox {
  engine::Mutex mutex;
  std::condition_variable_any came;
  std::shared_ptr<const engine::KeptChange> found GUARDED_BY(mutex);
  LastChanges<std::shared_ptr<const engine::KeptChange>> others GUARDED_BY(mutex);

  void put(const engine::Change& change, bool wanted) {
    const engine::Lock lock(mutex);
    if (found) return;
    if (wanted) {
      found = change.kept();
      came.notify_all();
      return;
    }
    others.add(change.kept(), engine::KeptChange::bytes_of(change));
  }
};

std::string shown_record(const engine::Stream& stream, const engine::ChangeRecord& record) {
  std::string shown;
  json::Writer out(shown);
  write_stream_record(out, stream, record);
  return shown;
}
std::string shown_record(const engine::KeptChange& kept) {
  const ToldChange change = told(kept.change());
  return shown_record(change.stream, change.record);
}

json::Tree answer_with(std::string_view record) { return {{"record", json::raw(record)}}; }

// The item's changes, each as the record that a response shows.
using Happened = LastChanges<std::string>;

void note(Happened& happened, std::string record) {
  const std::size_t bytes = record.size();
  happened.add(std::move(record), bytes);
}

// Returns a sentence about the item's TTL, such as " Its TTL is …", or an empty string if the TTL cannot
// explain the time-out.
std::string ttl_sentence(Call& call, const engine::LiveTable& table, const Wanted& wanted) {
  if (wanted.kind.value_or(engine::ChangeRecord::Kind::remove) != engine::ChangeRecord::Kind::remove ||
      wanted.cause == engine::Cause::user)
    return {};
  const Explanation explanation =
      explain(*table.description(), call.database().reader().get(table, wanted.key),
              table.expiry_stats().last_of(wanted.key),
              call.database().accounts().of(call.scope.account).now(), "Its TTL");
  const bool expects_expiry = wanted.cause.has_value();
  const bool says_little = explanation.reason == "ttl_disabled" || explanation.reason == "no_attribute" ||
                           explanation.reason == "no_item";
  return expects_expiry || !says_little ? " " + explanation.message : std::string();
}

// Returns the error for a time-out. `item` names the item, as in carts/{"id": "1"}. `why` has further
// sentences or is empty.
Unexpected<Error> time_is_up(const Happened& happened, double seconds, const std::string& item,
                             const std::string& why) {
  std::string extra = "\"records\":[";
  const char* between = "";
  happened.each([&](const std::string& record) {
    extra += std::exchange(between, ",");
    extra += record;
  });
  extra += ']';
  if (happened.left_out() > 0) extra += ",\"left_out\":" + std::to_string(happened.left_out());
  char text[32];
  std::snprintf(text, sizeof text, "%g", seconds);
  std::string message = std::string("Timed out after ") + text +
                        (happened.empty() ? " s: no change to " : " s: only other changes to ") + item + "." +
                        why;
  return Unexpected{
      Error{.kind = Error::Kind::timed_out, .message = std::move(message), .extra = std::move(extra)}};
}

// Reads the item's records in the stream from `since` on. Returns the wanted record if it is among them. Sets
// `read_to` to the sequence number of the item's last record that this function read. The subscription can
// report the same records again.
Result<std::optional<std::string>> look_back(Call& call, const engine::Table& table, const Wanted& wanted,
                                             engine::Instant since, Happened& happened,
                                             engine::Sequence& read_to) {
  engine::Database& database = call.database();
  const auto stream = database.catalog().find_stream(call.scope, table.name, table.stream->label);
  if (!stream) return std::optional<std::string>();
  // An item's records are in one open shard at a time, and a child shard has a higher number than its parent,
  // so this loop reads the item's records in order.
  for (const engine::Shard& shard : stream->shards) {
    for (engine::Sequence from = database.change_log().oldest_sequence(stream->id, shard.number);;) {
      if (call.stop.stop_requested()) return stopped();
      const auto page =
          database.change_log().read(stream->id, shard.number, from, stream_page_records, stream_page_bytes);
      for (const engine::ChangeRecord& record : page.records) {
        if (record.created < since || encode_key(table, record.keys) != wanted.key) continue;
        read_to = record.sequence;
        std::string shown = shown_record(*stream, record);
        if (wanted.fits(record.kind, record.cause)) return std::optional(std::move(shown));
        note(happened, std::move(shown));
      }
      if (page.at_end) break;
      from = page.next;
    }
  }
  return std::optional<std::string>();
}

Result<json::Tree> await_change(Call& call) {
  const std::string table_name = *call.body.text("table");
  const auto kind = call.body.choice("event", event_choices);
  const auto cause = call.body.choice("by", by_choices);
  const auto since = call.body.time("since");
  TRY(const auto table, call.table(table_name));
  const auto description = table->description();
  TRY(std::string item_key, call.item_key(*description));
  const Wanted wanted{table_name, std::move(item_key), kind, cause};
  if (since && !description->stream) {
    return error::validation("'since' requires a stream, but table '" + table_name + "' has none enabled.");
  }

  Inbox inbox;
  auto subscription = call.database().change_feed().subscribe([&](const engine::Change& change) {
    if (wanted.is_of(*change.table, change.key, call.scope))
      inbox.put(change, wanted.fits(change.kind, change.cause));
  });

  Happened happened;
  engine::Sequence read_to = 0;
  if (since) {
    TRY(const auto record, look_back(call, *description, wanted, *since, happened, read_to));
    if (record) return answer_with(*record);
  }

  const double seconds = call.body.number("timeout_seconds").value_or(timeout_seconds_default);
  {
    engine::Lock lock(inbox.mutex);
    inbox.came.wait_for(lock, call.stop, std::chrono::duration<double>(seconds),
                        [&]() REQUIRES(inbox.mutex) { return inbox.found != nullptr; });
  }
  subscription.end();
  const engine::Lock lock(inbox.mutex);  // uncontended: the subscription has ended
  if (inbox.found) {
    return answer_with(shown_record(*inbox.found));
  }
  if (call.stop.stop_requested()) return stopped();
  // A change that was both reported and read can be counted twice in left_out.
  happened.leave_out(inbox.others.left_out());
  inbox.others.each([&](const std::shared_ptr<const engine::KeptChange>& other) {
    if (!other->sequence || *other->sequence > read_to) note(happened, shown_record(*other));
  });
  TRY(const engine::Item key, call.key());
  return time_is_up(happened, seconds, table_name + "/" + plain_key(description->keys, key),
                    ttl_sentence(call, *table, wanted));
}

}  // namespace

std::span<const ControlCall> await_calls() {
  static constexpr Member body[] = {
      Member{"table", Kind::text, "Table of the item", Given::always}.as("TABLE"),
      key_member,
      event_member,
      author_member,
      Member{"since", Kind::time, "Also accept changes in the table's stream from this time on"}.as(
          "--since"),
      Member{"timeout_seconds", Kind::seconds, "Maximum time to wait, in real time"}
          .within(0, timeout_seconds_max)
          .by_default("5")
          .as("--timeout")};
  static constexpr Member answer[] = {
      {"record", Kind::image, "The change, as a stream record", Given::always}};

  static constexpr ControlCall calls[] = {
      {.method = "POST",
       .path = "/_mayfly/await",
       .name = "await_change",
       .about = "Wait for a change to an item, or explain why none occurred",
       .waits = Waits::for_others,
       .body = body,
       .answer = answer,
       .handle = &await_change,
       .command = "await"},
  };
  return calls;
}

}  // namespace mayfly::compat::control
