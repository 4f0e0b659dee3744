// Replies to requests that are not served.
#pragma once

#include <chrono>
#include <string_view>

#include "http/base/slow_lane.h"
#include "http/requests/reply.h"
#include "http/requests/request.h"

namespace mayfly::compat {
struct Error;
}

namespace mayfly::http {

// The reply to a request that was not admitted, in a form that clients of both AWS's API and Mayfly's can
// read.
Reply refused(const Request& request, const compat::Error& why);

// Replies to malformed or incomplete requests.
Reply bad_request(std::string_view reason);             // a human-readable sentence
Reply too_large();                                      // 413: the body is longer than body_bytes_max
Reply too_slow(std::chrono::milliseconds request_max);  // 408: the request took too long to arrive

Reply no_thread();       // 503: no thread can be started for a request that waits
Reply too_many_bytes();  // 503: large requests hold all the memory allowed for them

// 503: the limit of waiting requests of this kind is reached.
Reply too_many_wait(Waiting kind);

}  // namespace mayfly::http
