// GET /_mayfly/events?table=&event=&by=: the account's changes as they commit, as server-sent events.
//
//   id: 100000000000000004200
//   event: REMOVE
//   data: {"table":"carts","record":{"eventName":"REMOVE",…}}
//
// A reader that is too slow to keep up loses changes, and is told so in place: event "gap", data
// {"dropped":17}. streams/live_changes.h keeps the changes that wait for readers. A comment keeps a quiet
// connection alive.
#include <nlohmann/json.hpp>

#include "compat/control/handlers.h"
#include "compat/streams/live_changes.h"
#include "compat/streams/record.h"

namespace mayfly::compat::control {
namespace {

class Events final : public EventSource {
 public:
  explicit Events(std::unique_ptr<LiveChanges::Reader> reader) : reader_(std::move(reader)) {}

  bool next(std::string& piece, const std::stop_token& stop) override {
    if (std::exchange(greeted_, true)) return reader_->next(piece, stop);
    piece +=
        ": mayfly\n\n";  // so that a client that waits for the first byte knows that its changes are told
    return true;
  }

 private:
  bool greeted_ = false;
  const std::unique_ptr<LiveChanges::Reader> reader_;
};

}  // namespace

Result<json::Tree> follow_events(Call& call) {
  LiveChanges::Filter filter{
      .scope = call.scope, .table = call.query_value("table"), .kind = {}, .cause = {}};
  if (const auto event = call.query_value("event")) {
    for (const auto kind : {engine::ChangeRecord::Kind::insert, engine::ChangeRecord::Kind::modify,
                            engine::ChangeRecord::Kind::remove})
      if (event_name(kind) == *event) filter.kind = kind;
    if (!filter.kind) return error::validation("event must be INSERT, MODIFY or REMOVE.");
  }
  if (const auto by = call.query_value("by")) {
    if (*by != "user" && *by != "service") return error::validation("by must be user or service.");
    filter.cause = *by == "user" ? engine::Cause::user : engine::Cause::time_to_live;
  }
  call.answer.content_type = "text/event-stream";
  call.answer.events = std::make_unique<Events>(call.emulator.live_changes().follow(std::move(filter)));
  return json::Tree();
}

}  // namespace mayfly::compat::control
