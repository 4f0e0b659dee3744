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

#include "compat/triggers/triggers.h"
#include "compat/wire/json_tree.h"

namespace mayfly::compat::control {

json::Tree show_unfinished(const triggers::Triggers::Unfinished& unfinished);
json::Tree show_given_up(const triggers::Triggers::NewlyGivenUp& given_up);

}  // namespace mayfly::compat::control
