// What the log says of requests and their answers.
#pragma once

#include <chrono>
#include <optional>

#include "http/reply.h"
#include "http/request.h"

namespace mayfly::http::log {

// For debugging, of each: "POST / DynamoDB_20120810.PutItem of carts -> 400 ResourceNotFoundException, 112
// bytes, 0.2 ms". What a presigned query has in it is not shown: it is as good as a key for a while.
void answer(const Request& request, const Reply& reply, std::optional<std::chrono::nanoseconds> time = {});

// Of control calls that change something, what was asked and what became of it: what moves a clock, brings a
// state back or lets something fail explains what comes after it. Who only waits or asks changes nothing; and
// functions' URLs may have keys in them, so their bodies are not shown.
void control(const Request& request, const Reply& reply);

}  // namespace mayfly::http::log
