// The part of Lambda's REST API that concerns event source mappings and invoking functions.
//
//   POST|GET /2015-03-31/event-source-mappings[/]     GET|PUT|DELETE /2015-03-31/event-source-mappings/{UUID}
//   GET|POST|DELETE /2017-03-31/tags/{arn}            POST /2015-03-31/functions/{name}/invocations
//
//   auto answer = answer_rest(triggers, {.scope = scope, .method = "GET",
//                                       .path = "/2015-03-31/event-source-mappings/"});
//   answer.status == 200, answer.body == R"({"EventSourceMappings":[]})"
#pragma once

#include <string_view>

#include "compat/triggers/invocation.h"
#include "compat/wire/error.h"

namespace mayfly::compat::triggers {

// Whether a path belongs to Lambda's API, and whether the request waits for a function's response.
bool is_rest_path(std::string_view path);
bool waits_for_function(std::string_view method, std::string_view path);

Answer answer_rest(Triggers& triggers, const RestRequest& request);
Answer rest_error(const Error& error);

}  // namespace mayfly::compat::triggers
