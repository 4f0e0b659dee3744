// The part of Lambda's REST API that concerns event source mappings and invoking functions.
//
//   POST|GET /2015-03-31/event-source-mappings[/]     GET|PUT|DELETE /2015-03-31/event-source-mappings/{UUID}
//   GET|POST|DELETE /2017-03-31/tags/{arn}            POST /2015-03-31/functions/{name}/invocations
//
//   auto answer = answer_rest(triggers, {.scope = scope, .method = "GET",
//                                       .path = "/2015-03-31/event-source-mappings/"});
//   answer.status == 200, answer.body == R"({"EventSourceMappings":[]})"
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compat/wire/error.h"
#include "engine/tables/catalog.h"

namespace mayfly::compat::triggers {

class Triggers;

struct RestRequest {
  const engine::Scope& scope;
  std::string_view method, path, query, body;
  std::string_view invocation_type;  // X-Amz-Invocation-Type; empty: RequestResponse
  std::string_view client_context;   // X-Amz-Client-Context
  std::stop_token stop;              // for a call that waits for a function
};

struct RestAnswer {
  int status = 200;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  // x-amzn-ErrorType, X-Amz-Function-Error, …
};

// Whether a path belongs to Lambda, and whether the request waits for a function's response.
bool is_rest_path(std::string_view path);
bool waits_for_function(std::string_view method, std::string_view path);

RestAnswer answer_rest(Triggers& triggers, const RestRequest& request);
RestAnswer rest_error(const Error& error);

}  // namespace mayfly::compat::triggers
