// Maps a request to a reply, by method, path and headers, in the order in which DynamoDB checks them.
//
// Only requests that access.h admitted reach the router. A POST is checked in this order: content type (404),
// encoding of the body, JSON, target, authentication; then compat answers. The router uses no sockets and has
// no side effects except the emulator's.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>

#include "compat/request_memory.h"
#include "http/base/slow_lane.h"
#include "http/requests/reply.h"
#include "http/requests/request.h"

namespace mayfly::compat {
class Emulator;
struct Error;
}  // namespace mayfly::compat

namespace mayfly::http {

class Admitted;
struct AccessRules;

// Thread-safe. May decompress the request's body in place. `stop`: the client no longer waits for the answer.
Reply route(const Admitted& admitted, compat::Emulator& emulator, const AccessRules& access,
            const std::stop_token& stop);
// Requires: admit() has seen the request. The kind of waiting, if the request waits for something or is
// expected to take longer than an io thread has. nullopt: an io thread may try to answer it, in a hurry
// (engine/base/hurry.h).
std::optional<Waiting> waits_as(const Request& request, const compat::Emulator& emulator);

// A longer body is not parsed on an io thread. The slowest one measured, with many small values, took 25 ns
// per byte to parse, check and reject: 3 ms.
inline constexpr std::size_t quick_body_bytes_max = compat::RequestMemory::small_bytes_max;

}  // namespace mayfly::http
