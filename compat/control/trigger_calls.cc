// GET /_mayfly/triggers: the event source mappings of the account's region, and how each fares.
//
//   {"triggers":[{"uuid":"…","function":"reminder","table":"carts","stream":"arn:…","state":"Enabled",
//                 "last_result":"OK","batches":12,"records":40,"failures":3,"retries":3,"given_up":0,
//                 "last_batch":{"records":2,"at":"2031-01-01T00:00:00Z"},
//                 "last_failure":{"status":500,"error":"Unhandled","at":"2031-01-01T00:00:00Z"}}]}
//
// What the mappings are, and changes of them, is Lambda's API (docs/triggers.md); here is what CloudWatch
// would show: counts since the server started.
#include <nlohmann/json.hpp>

#include "compat/control/handlers.h"
#include "compat/streams/arn_and_iterator.h"
#include "compat/triggers/triggers.h"

namespace mayfly::compat::control {
namespace {

using triggers::Triggers;

json::Tree show_trigger(const Triggers::View& view) {
  const triggers::Tally::Counts& counts = view.counts;
  const auto stream = parse_stream_arn(view.mapping.event_source_arn);
  json::Tree shown{{"uuid", view.mapping.uuid},
                   {"function", view.mapping.function.name},
                   {"table", stream ? stream->table_name : std::string()},
                   {"stream", view.mapping.event_source_arn},
                   {"state", view.state},
                   {"last_result", view.last_result},
                   {"batches", counts.batches},
                   {"records", counts.records},
                   {"failures", counts.failures},
                   {"retries", counts.retries},
                   {"given_up", counts.given_up}};
  if (counts.batches > 0) {
    shown["last_batch"] =
        json::Tree{{"records", counts.last_records}, {"at", print_time(counts.last_batch_at)}};
  }
  if (counts.failures > 0) {
    json::Tree& failure = shown["last_failure"] = json::Tree{{"status", counts.last_status}};
    if (!counts.last_error.empty()) failure["error"] = counts.last_error;
    failure["at"] = print_time(counts.last_failure_at);
  }
  return shown;
}

}  // namespace

Result<json::Tree> list_triggers(Call& call) {
  json::Tree shown = json::Tree::array();
  for (const Triggers::View& view : call.emulator.triggers().list(call.scope))
    shown.push_back(show_trigger(view));
  return json::Tree{{"triggers", std::move(shown)}};
}

}  // namespace mayfly::compat::control
