// Request in, reply out: which answer a method, a path and headers get, in DynamoDB's order.
//
// Only what access.h admitted comes here. A POST is checked in this order: content type (404), encoding of
// the body, JSON, target, authentication; then compat answers. Pure but for what the emulator does: no
// sockets here.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>

#include "compat/request_memory.h"
#include "http/reply.h"
#include "http/request.h"
#include "http/slow_lane.h"

namespace mayfly::compat {
class Emulator;
struct Error;
}  // namespace mayfly::compat

namespace mayfly::http {

class Admitted;
struct AccessRules;

// Thread-safe. May decompress the request's body in place. `stop`: nobody waits for the answer any more.
Reply route(const Admitted& admitted, compat::Emulator& emulator, const AccessRules& access,
            const std::stop_token& stop);
// As what the request waits for something, or is expected to take longer than an io thread has; nothing: an
// io thread may try to answer it, in a hurry (engine/hurry.h).
std::optional<Waiting> waits_as(const Request& request, const compat::Emulator& emulator);

// A body beyond this is parsed elsewhere than on an io thread. The slowest, many small values, took 25 ns a
// byte to be parsed, checked and refused: 3 ms.
inline constexpr std::size_t quick_body_bytes_max = compat::RequestMemory::small_bytes_max;

// What a request gets that was not admitted; in a form that all clients read, AWS's and ours.
Reply refused(const Request& request, const compat::Error& why);

// Answers to what is no request.
Reply bad_request(std::string_view reason);             // a sentence for people
Reply too_large();                                      // 413: the body is longer than body_bytes_max
Reply too_slow(std::chrono::milliseconds request_max);  // 408: the request took longer to come

Reply no_thread();       // 503: none can be started for a request that waits
Reply too_many_bytes();  // 503: large requests hold all the memory that they may

// 503: as many requests of the kind as may are waiting already.
Reply too_many_wait(Waiting kind);

}  // namespace mayfly::http
