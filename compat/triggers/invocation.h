// Invoke: a function called by a client, through its name.
//
// RequestResponse waits for the function and hands on what it says: 200, X-Amz-Function-Error if it failed.
// Event is answered 202 once the call is under way, DryRun 204 without one.
#pragma once

#include <string_view>

#include "compat/triggers/rest.h"

namespace mayfly::compat::triggers {

// `name` is in any of its forms. An unknown function is a 404, "Function not found: arn:…".
Result<RestAnswer> answer_invocation(Triggers& triggers, const RestRequest& request, std::string_view name);

}  // namespace mayfly::compat::triggers
