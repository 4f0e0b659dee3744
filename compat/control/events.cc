// GET /_mayfly/events?table=&event=&by=: the account's changes as they commit, as server-sent events.
//
//   id: 100000000000000004200
//   event: REMOVE
//   data: {"table":"carts","record":{"eventName":"REMOVE",…}}
//
// A reader that is too slow to keep up loses changes, not the server its memory: what did not fit is counted,
// and said in place: event "gap", data {"dropped":17}. A comment keeps a quiet connection alive.
#include <condition_variable>
#include <deque>
#include <nlohmann/json.hpp>

#include "compat/control/handlers.h"
#include "compat/streams/arn_and_iterator.h"
#include "compat/streams/record.h"
#include "compat/wire/json.h"
#include "engine/mutex.h"

namespace mayfly::compat::control {
namespace {

constexpr std::size_t waiting_bytes_max = 8 * 1024 * 1024;  // of a reader's changes that it has not taken
constexpr std::size_t piece_bytes_max = 64 * 1024;
constexpr std::chrono::seconds quiet_max{15};

class Changes final : public EventSource {
 public:
  struct Filter {
    engine::Scope scope;
    std::optional<std::string> table, event;
    std::optional<engine::Cause> cause;

    [[nodiscard]] bool fits(const engine::Change& change) const {
      return change.table->account == scope.account && change.table->region == scope.region &&
             (!table || change.table->name == *table) && (!event || event_name(change.kind) == *event) &&
             (!cause || change.cause == *cause);
    }
  };

  Changes(engine::Database& database, Filter filter)
      : filter_(std::move(filter)), subscription_(database.subscribe([this](const engine::Change& change) {
          if (filter_.fits(change)) note(change);
        })) {}

  bool next(std::string& piece, const std::stop_token& stop) override {
    if (!greeted_) {
      greeted_ = true;
      piece += ": mayfly\n\n";  // so that who waits for the first byte knows that we listen
      return true;
    }
    engine::Lock lock(mutex_);
    if (!came_.wait_for(lock, stop, quiet_max, [&]() REQUIRES(mutex_) { return !waiting_.empty(); })) {
      piece += ": still here\n\n";
      return true;
    }
    const std::size_t bytes_max = piece.size() + piece_bytes_max;
    while (!waiting_.empty() && piece.size() < bytes_max) {
      const Note note = std::move(waiting_.front());
      waiting_.pop_front();
      waiting_bytes_ -= note.change ? note.change->bytes() : 0;
      lock.unlock();
      append(piece, note);
      lock.lock();
    }
    return true;
  }

 private:
  struct Note {
    std::optional<engine::KeptChange> change;
    std::int64_t dropped = 0;  // of a gap
  };

  void note(const engine::Change& change) {
    const std::size_t bytes = engine::KeptChange::bytes_of(change);
    const engine::Lock lock(mutex_);
    if (waiting_bytes_ + bytes > waiting_bytes_max) {
      if (waiting_.empty() || waiting_.back().change) waiting_.push_back({});
      ++waiting_.back().dropped;
    } else {
      waiting_.push_back({.change = engine::KeptChange(change)});
      waiting_bytes_ += bytes;
    }
    came_.notify_all();
  }

  static void append(std::string& piece, const Note& note) {
    if (!note.change) {
      piece += "event: gap\ndata: {\"dropped\":" + std::to_string(note.dropped) + "}\n\n";
      return;
    }
    const ToldChange change = told(note.change->change());
    if (change.record.sequence != 0) piece += "id: " + sequence_number(change.record.sequence) + "\n";
    piece += "event: ";
    piece += event_name(change.record.kind);
    piece += "\ndata: ";
    json::Writer out(piece);
    out.begin_object();
    out.key("table");
    out.string(change.table_name);
    out.key("record");
    write_stream_record(out, change.stream, change.record);
    out.end_object();
    piece += "\n\n";
  }

  bool greeted_ = false;
  engine::Mutex mutex_;
  std::condition_variable_any came_;
  std::deque<Note> waiting_ GUARDED_BY(mutex_);
  std::size_t waiting_bytes_ GUARDED_BY(mutex_) = 0;
  const Filter filter_;
  engine::ChangeFeed::Subscription subscription_;  // ends before what it writes to
};

}  // namespace

Result<json::Tree> follow_events(Call& call) {
  Changes::Filter filter{
      .scope = call.scope, .table = call.query_value("table"), .event = call.query_value("event")};
  if (const auto& event = filter.event;
      event && *event != "INSERT" && *event != "MODIFY" && *event != "REMOVE") {
    return error::validation("event must be INSERT, MODIFY or REMOVE.");
  }
  if (const auto by = call.query_value("by")) {
    if (*by != "user" && *by != "service") return error::validation("by must be user or service.");
    filter.cause = *by == "user" ? engine::Cause::user : engine::Cause::time_to_live;
  }
  call.answer.content_type = "text/event-stream";
  call.answer.events = std::make_unique<Changes>(call.database(), std::move(filter));
  return json::Tree();
}

}  // namespace mayfly::compat::control
