// GET /_mayfly/triggers: the event source mappings of the account's region, with their state and counts.
//
//   {"triggers":[{"uuid":"…","function":"reminder","table":"carts","stream":"arn:…","state":"Enabled",
//                 "last_result":"OK","batches":12,"records":40,"failures":3,"retries":3,"given_up":0,
//                 "last_batch":{"records":2,"at":"2031-01-01T00:00:00Z"},
//                 "last_failure":{"status":200,"error":"Unhandled","type":"AssertionError",
//                                 "message":"assert 1 == 2","at":"2031-01-01T00:00:00Z"},
//                 "retrying":{"attempts":4,"records":2,"error":{"status":200,"error":"Unhandled",…}}}]}
//
// Lambda's API describes and changes the mappings (docs/triggers.md). This call shows what CloudWatch would
// show: counts since the server started.
#include <nlohmann/json.hpp>

#include "compat/control/families.h"
#include "compat/control/trigger_views.h"
#include "compat/streams/arn_and_iterator.h"
#include "compat/triggers/triggers.h"

namespace mayfly::compat::control {
namespace {

using triggers::Triggers;

std::string table_of(std::string_view stream_arn) {
  const auto stream = parse_stream_arn(stream_arn);
  return stream ? stream->table_name : std::string();
}

json::Tree show_error(const triggers::CallError& error) {
  json::Tree shown{{"status", error.status}};
  if (!error.error.empty()) shown["error"] = error.error;
  if (!error.type.empty()) shown["type"] = error.type;
  if (!error.message.empty()) shown["message"] = error.message;
  return shown;
}

json::Tree show_retrying(const triggers::Retrying& retrying) {
  return {
      {"attempts", retrying.attempts}, {"records", retrying.records}, {"error", show_error(retrying.error)}};
}

json::Tree show_trigger(const Triggers::View& view) {
  const triggers::Tally::Counts& counts = view.counts;
  json::Tree shown{{"uuid", view.mapping.uuid},
                   {"function", view.mapping.function.name},
                   {"table", table_of(view.mapping.event_source_arn)},
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
    json::Tree& failure = shown["last_failure"] = show_error(counts.last_failure);
    failure["at"] = print_time(counts.last_failure_at);
  }
  if (view.retrying) shown["retrying"] = show_retrying(*view.retrying);
  return shown;
}

}  // namespace

json::Tree show_unfinished(const Triggers::Unfinished& unfinished) {
  const triggers::EventSourceMapping& mapping = *unfinished.mapping;
  json::Tree shown{{"UUID", mapping.uuid},
                   {"FunctionArn", mapping.function.arn()},
                   {"EventSourceArn", mapping.event_source_arn},
                   {"LastProcessingResult", unfinished.reason},
                   {"function", mapping.function.name},
                   {"table", table_of(mapping.event_source_arn)}};
  if (!unfinished.registered) shown["registered"] = false;
  if (unfinished.retrying) shown["retrying"] = show_retrying(*unfinished.retrying);
  return shown;
}

json::Tree show_given_up(const Triggers::NewlyGivenUp& given_up) {
  const triggers::GivenUp& batch = given_up.batch;
  json::Tree shown{{"UUID", given_up.uuid},
                   {"function", batch.function},
                   {"table", table_of(given_up.event_source_arn)},
                   {"stream", given_up.event_source_arn},
                   {"condition", batch.condition},
                   {"attempts", batch.attempts}};
  if (batch.attempts > 0) shown["error"] = show_error(batch.error);
  json::Tree& records = shown["records"] = json::Tree::array();
  for (const triggers::GivenUp::Record& record : batch.records) {
    records.push_back(json::Tree{
        {"sequence_number", record.number}, {"event", record.event}, {"key", json::raw(record.key)}});
  }
  shown["left_out"] = batch.left_out;
  if (!batch.destination.empty()) shown["destination"] = batch.destination;
  return shown;
}

namespace {

Result<json::Tree> list_triggers(Call& call) {
  json::Tree shown = json::Tree::array();
  for (const Triggers::View& view : call.emulator.triggers().list(call.scope))
    shown.push_back(show_trigger(view));
  return json::Tree{{"triggers", std::move(shown)}};
}

}  // namespace

std::span<const ControlCall> trigger_calls() {
  static constexpr Member last_batch_members[] = {
      {"records", Kind::whole, "Records in the batch", Given::always},
      {"at", Kind::time, "When the batch was processed", Given::always}};
  static constexpr Member trigger_members[] = {
      {"uuid", Kind::text, "UUID of the mapping", Given::always},
      {"function", Kind::text, "Name of the function", Given::always},
      {"table", Kind::text, "Table of the stream", Given::always},
      {"stream", Kind::text, "ARN of the stream", Given::always},
      {"state", Kind::text, "State of the mapping", Given::always},
      {"last_result", Kind::text, "Result of the last batch", Given::always},
      {"batches", Kind::whole, "Batches processed successfully since the server started", Given::always},
      {"records", Kind::whole, "Records in these batches", Given::always},
      {"failures", Kind::whole, "Calls that failed", Given::always},
      {"retries", Kind::whole, "Calls that retried a batch", Given::always},
      {"given_up", Kind::whole, "Records that the mapping stopped trying to process", Given::always},
      Member{"last_batch", Kind::object, "The last batch"}.with(last_batch_members),
      Member{"last_failure", Kind::object, "The last failure"}.with(call_error_members),
      Member{"retrying", Kind::object, "The batch that is being retried"}.with(retrying_members)};
  static constexpr Member answer[] = {
      Member{"triggers", Kind::list, "The mappings of the region", Given::always}.with(trigger_members)};

  static constexpr ControlCall calls[] = {
      {.method = "GET",
       .path = "/_mayfly/triggers",
       .name = "show_triggers",
       .about = "List event source mappings with their state and last result",
       .answer = answer,
       .handle = &list_triggers,
       .is_tool = false,  // the tool list_triggers shows more: Lambda's own description of each mapping
       .command = "triggers",
       .rows = "triggers",
       .when_empty = "No event source mappings in account {account}, region {region}."},
  };
  return calls;
}

}  // namespace mayfly::compat::control
