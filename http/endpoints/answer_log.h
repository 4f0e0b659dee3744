// Log lines for requests and their responses.
#pragma once

#include <chrono>
#include <optional>

#include "http/requests/reply.h"
#include "http/requests/request.h"

namespace mayfly::http::log {

// Writes one debug line per request: "POST / DynamoDB_20120810.PutItem of carts of account 000000000042 ->
// 400 ResourceNotFoundException, 112 bytes, 0.2 ms". A test fixture shows the lines of its own account. The
// query of a presigned URL is not shown, because it works as a key until it expires.
void answer(const Request& request, const Reply& reply, std::optional<std::chrono::nanoseconds> time = {});

// Logs control calls that change something, with request and result: moving a clock, restoring a state or
// injecting a failure explains what happens later. Calls that only wait or read are not logged. Request
// bodies with function URLs are not shown, because such URLs may contain keys.
void control(const Request& request, const Reply& reply);

}  // namespace mayfly::http::log
