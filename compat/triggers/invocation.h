// Lambda's Invoke: a client calls a function by its name.
//
// RequestResponse waits for the function and returns its response: 200, with X-Amz-Function-Error if it
// failed. Event returns 202 once the call is queued. DryRun returns 204 without a call.
#pragma once

#include <string_view>

#include "compat/triggers/rest.h"

namespace mayfly::compat::triggers {

// Accepts `name` in any of its forms. An unknown function is a 404, "Function not found: arn:…".
Result<RestAnswer> answer_invocation(Triggers& triggers, const RestRequest& request, std::string_view name);

}  // namespace mayfly::compat::triggers
