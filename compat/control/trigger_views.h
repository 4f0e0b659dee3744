// Shows batches that triggers have not delivered or have given up, for responses of the control API
// (trigger_calls.cc).
//
//   {"UUID":"…","FunctionArn":"arn:…","EventSourceArn":"arn:…",
//    "LastProcessingResult":"PROBLEM: Function call failed","function":"reminder","table":"carts",
//    "retrying":{"attempts":4,"records":2,"error":{"status":200,"error":"Unhandled",
//                                                  "type":"AssertionError","message":"assert 1 == 2"}}}
//   {"UUID":"…",…,"LastProcessingResult":"PROBLEM: Function not found","function":"remindr","table":"carts",
//    "registered":false}
//   {"UUID":"…","function":"reminder","table":"carts","stream":"arn:…",
//    "condition":"RetryAttemptsExhausted","attempts":1,"error":{…},
//    "records":[{"sequence_number":"…","event":"REMOVE","key":{"id":{"S":"1"}}}],"left_out":0,
//    "destination":"file:///failed.jsonl"}
#pragma once

#include "compat/calls/description.h"
#include "compat/json/json_tree.h"
#include "compat/triggers/triggers.h"

namespace mayfly::compat::control {

json::Tree show_unfinished(const triggers::Triggers::Unfinished& unfinished);
json::Tree show_given_up(const triggers::Triggers::NewlyGivenUp& given_up);

// --- descriptions of the members of both kinds of batches

inline constexpr Member call_error_members[] = {{"status", Kind::whole, "HTTP status, or 0", Given::always},
                                                {"error", Kind::text, "Value of X-Amz-Function-Error"},
                                                {"type", Kind::text, "Type of the function's error"},
                                                {"message", Kind::text, "The error's message"},
                                                {"at", Kind::time, "When the error happened"}};
inline constexpr Member retrying_members[] = {
    {"attempts", Kind::whole, "Attempts so far", Given::always},
    {"records", Kind::whole, "Records in the batch", Given::always},
    Member{"error", Kind::object, "The last error", Given::always}.with(call_error_members)};
inline constexpr Member unfinished_members[] = {
    {"UUID", Kind::text, "UUID of the mapping", Given::always},
    {"FunctionArn", Kind::text, "ARN of the function", Given::always},
    {"EventSourceArn", Kind::text, "ARN of the stream", Given::always},
    {"LastProcessingResult", Kind::text, "The result of the last batch", Given::always},
    {"function", Kind::text, "Name of the function", Given::always},
    {"table", Kind::text, "Table of the stream", Given::always},
    {"registered", Kind::flag, "false if no function with this name is registered"},
    Member{"retrying", Kind::object, "The batch that is being retried"}.with(retrying_members)};
inline constexpr Member given_up_record_members[] = {
    {"sequence_number", Kind::text, "Sequence number of the record", Given::always},
    {"event", Kind::text, "The record's event", Given::always},
    {"key", Kind::image, "Key of the record's item", Given::always}};
inline constexpr Member given_up_members[] = {
    {"UUID", Kind::text, "UUID of the mapping", Given::always},
    {"function", Kind::text, "Name of the function", Given::always},
    {"table", Kind::text, "Table of the stream", Given::always},
    {"stream", Kind::text, "ARN of the stream", Given::always},
    {"condition", Kind::text, "Why the batch was given up", Given::always},
    {"attempts", Kind::whole, "Attempts to process the batch", Given::always},
    Member{"error", Kind::object, "The last error"}.with(call_error_members),
    Member{"records", Kind::list, "Records in the batch", Given::always}.with(given_up_record_members),
    {"left_out", Kind::whole, "Records that are not in records", Given::always},
    {"destination", Kind::text, "Where the batch was sent"}};

}  // namespace mayfly::compat::control
