// GET /_mayfly/events?table=&event=&by=: streams the account's changes as they commit, as server-sent events.
//
//   id: 100000000000000004200
//   event: REMOVE
//   data: {"table":"carts","record":{"eventName":"REMOVE",…}}
//
// A reader that is too slow loses changes and gets an event in their place: event "gap", data {"dropped":17}.
// LiveChanges (streams/live_changes.h) buffers changes for the readers. Comment lines keep a quiet connection
// alive.
#include <nlohmann/json.hpp>

#include "compat/control/change_choices.h"
#include "compat/control/families.h"
#include "compat/streams/live_changes.h"
#include "compat/streams/record.h"

namespace mayfly::compat::control {
namespace {

class Events final : public BodySource {
 public:
  explicit Events(std::unique_ptr<LiveChanges::Reader> reader) : reader_(std::move(reader)) {}

  bool next(std::string& piece, const std::stop_token& stop) override {
    if (std::exchange(greeted_, true)) return reader_->next(piece, stop);
    // Once a client has received this first line, it knows that all changes from then on will be reported.
    piece += ": mayfly\n\n";
    return true;
  }
  [[nodiscard]] bool waits() const override { return true; }

 private:
  bool greeted_ = false;
  const std::unique_ptr<LiveChanges::Reader> reader_;
};

Result<json::Tree> follow_events(Call& call) {
  LiveChanges::Filter filter{.scope = call.scope,
                             .table = call.query.text("table"),
                             .kind = call.query.choice("event", event_choices),
                             .cause = call.query.choice("by", by_choices)};
  call.answer.content_type = "text/event-stream";
  call.answer.source = std::make_shared<Events>(call.emulator.live_changes().follow(std::move(filter)));
  return json::Tree();
}

}  // namespace

std::span<const ControlCall> event_calls() {
  static constexpr Member query[] = {Member{"table", Kind::text, "Only changes to this table"}.as("TABLE"),
                                     event_member, author_member};

  static constexpr ControlCall calls[] = {
      {.method = "GET",
       .path = "/_mayfly/events",
       .name = "follow_events",
       .about = "Stream changes as they commit, as server-sent events",
       .waits = Waits::forever,
       .query = query,
       .answer_type = "text/event-stream",
       .handle = &follow_events,
       .is_tool = false,
       .command = "tail"},
  };
  return calls;
}

}  // namespace mayfly::compat::control
