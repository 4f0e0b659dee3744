// Lambda's Invoke: a client calls a function by its name.
//
// RequestResponse waits for the function and returns its response: 200, with X-Amz-Function-Error if the
// function failed. Event returns 202 once the call is queued. DryRun returns 204 and makes no call.
#pragma once

#include <stop_token>
#include <string_view>

#include "compat/wire/answer.h"
#include "engine/tables/catalog.h"

namespace mayfly::compat::triggers {

class Triggers;

// A request to Lambda's REST API.
struct RestRequest {
  const engine::Scope& scope;
  std::string_view method, path, query, body;
  std::string_view invocation_type;  // X-Amz-Invocation-Type; empty: RequestResponse
  std::string_view client_context;   // X-Amz-Client-Context
  std::stop_token stop;              // for a call that waits for a function
};

// Accepts `name` in any of its forms. An unknown function is a 404, "Function not found: arn:…".
Result<Answer> answer_invocation(Triggers& triggers, const RestRequest& request, std::string_view name);

}  // namespace mayfly::compat::triggers
