// What the log says of requests and their answers.
#pragma once

#include <chrono>
#include <optional>

#include "http/reply.h"
#include "http/request.h"

namespace mayfly::http::log {

// One debug line per request: "POST / DynamoDB_20120810.PutItem of carts of account 000000000042 -> 400
// ResourceNotFoundException, 112 bytes, 0.2 ms". A test fixture shows the lines of its own account. A
// presigned query is not shown, because whoever has it can use it as a key until it expires.
void answer(const Request& request, const Reply& reply, std::optional<std::chrono::nanoseconds> time = {});

// Of control calls that change something, what was asked and what became of it: what moves a clock, brings a
// state back or lets something fail explains what comes after it. Who only waits or asks changes nothing; and
// functions' URLs may have keys in them, so their bodies are not shown.
void control(const Request& request, const Reply& reply);

}  // namespace mayfly::http::log
