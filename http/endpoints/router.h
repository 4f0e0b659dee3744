// Maps a request to a reply, by method, path and headers, in the order in which DynamoDB checks them.
//
// Only requests that access.h admitted reach the router. A POST is checked in this order: content type (404),
// encoding of the body, JSON, target, authentication; then compat answers. The router uses no sockets and has
// no side effects except log lines and the side effects of the emulator.
#pragma once

#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "compat/request_memory.h"
#include "http/access/access.h"
#include "http/base/slow_lane.h"
#include "http/requests/reply.h"
#include "http/requests/request.h"

namespace mayfly::compat {
class Emulator;
class ServerMetrics;
}  // namespace mayfly::compat

namespace mayfly::http {

// Answers the requests of a server's sessions. Thread-safe.
class Router {
 public:
  // Requires: the emulator outlives the router.
  Router(compat::Emulator& emulator, AccessRules access) : emulator_(emulator), access_(std::move(access)) {}

  // Returns a Reply if the request is not admitted. `known_host`: as in access.h.
  Expected<Admitted, Reply> admit(Request& request, std::string& known_host) const;
  // Returns the kind of waiting if the request waits for something, or is expected to take longer than an io
  // thread may spend on it. Such a request is answered on the slow lane. Returns nullopt if an io thread may
  // try to answer the request in a hurry (engine/base/hurry.h).
  // Requires: admit() has seen the request.
  [[nodiscard]] std::optional<Waiting> waits_as(const Request& request) const;
  // May decompress the request's body in place. In a Hurry, may throw NotNow after changing nothing; throws
  // nothing else. `stop` is requested when the client no longer waits for the answer.
  Reply answer(const Admitted& admitted, const std::stop_token& stop) const;

  // Whether requests must keep all their headers.
  [[nodiscard]] bool needs_all_headers() const { return access_.keys != nullptr; }
  // The metrics outlive the router.
  [[nodiscard]] compat::ServerMetrics& metrics() const;

 private:
  [[nodiscard]] Reply answer_or_500(const Admitted& admitted, const std::stop_token& stop) const;

  compat::Emulator& emulator_;
  const AccessRules access_;
};

// A longer body is not parsed on an io thread. The slowest body of this size that was measured has many small
// values and took 25 ns per byte to parse, check and reject: 3 ms.
inline constexpr std::size_t quick_body_bytes_max = compat::RequestMemory::small_bytes_max;

}  // namespace mayfly::http
