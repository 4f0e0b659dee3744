// A connection as a server's thread sees it, whatever its transport, and the service that answers its
// requests. The only implementation is Session (session.h), over plain TCP and over TLS.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

#include "http/access/access.h"
#include "http/base/held_bytes.h"
#include "http/base/slow_lane.h"
#include "http/requests/reply.h"
#include "http/requests/request.h"

namespace mayfly::compat {
class ServerMetrics;
}

namespace mayfly::http {

// Answers the requests of a server's sessions. Thread-safe.
class Service {
 public:
  virtual ~Service() = default;
  // The kind of waiting, if the request may wait or is expected to take long; it is then answered on the slow
  // lane. nullopt: an io thread may try to answer it.
  [[nodiscard]] virtual std::optional<Waiting> waits_as(const Request& request) const = 0;
  // Whether requests must keep all their headers.
  [[nodiscard]] virtual bool needs_all_headers() const = 0;
  // Returns a Reply if the request is not admitted. `known_host`: as in access.h.
  virtual Expected<Admitted, Reply> admit(Request& request, std::string& known_host) const = 0;
  // If the calling thread is in a Hurry (engine/base/hurry.h), may throw NotNow, having changed nothing.
  // Throws nothing else. `stop`: the client no longer waits for the answer.
  virtual Reply answer(const Admitted& admitted, const std::stop_token& stop) = 0;
  // Outlives the service.
  [[nodiscard]] virtual compat::ServerMetrics& metrics() const = 0;
};

// Time limits of a connection: without a request, with a request or response that makes no progress, and for
// receiving a request or sending its response, each from first byte to last.
struct Patience {
  std::chrono::milliseconds idle_max, stalled_max, request_max;
};

class Connection {
 public:
  virtual ~Connection() = default;
  virtual void start() = 0;
  // Called at intervals. Closes the connection if its client has exceeded a limit.
  virtual void tick(std::chrono::milliseconds since_last_tick, const Patience& patience) = 0;
  virtual void close() = 0;
  [[nodiscard]] virtual const HeldBytes::Share& unread() const = 0;
  // The share of the request that is being received; nullptr: there is no such request, or it can no longer
  // be rejected.
  [[nodiscard]] virtual const HeldBytes::Share* arriving() const = 0;
  // Rejects the request that is being received, and frees its memory.
  // Requires: arriving() is not nullptr.
  virtual void refuse_for_memory() = 0;
};

}  // namespace mayfly::http
