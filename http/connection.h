// What a server's thread knows of a connection, whatever is spoken on it, and what its requests are answered
// with. Session (session.h) is the one there is, over plain TCP and over TLS.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

#include "http/access.h"
#include "http/held_bytes.h"
#include "http/reply.h"
#include "http/request.h"
#include "http/slow_lane.h"

namespace mayfly::compat {
class ServerMetrics;
}

namespace mayfly::http {

// What a server's sessions answer with. Thread-safe.
class Service {
 public:
  virtual ~Service() = default;
  // As what the request waits, or is expected to take long: then it is answered on the slow lane. Nothing: an
  // io thread may try.
  [[nodiscard]] virtual std::optional<Waiting> waits_as(const Request& request) const = 0;
  // Whether requests are to keep all their headers.
  [[nodiscard]] virtual bool needs_all_headers() const = 0;
  // Whoever is not admitted gets the Reply instead. `known_host`: access.h's.
  virtual Expected<Admitted, Reply> admit(Request& request, std::string& known_host) const = 0;
  // Throws NotNow in a Hurry (engine/hurry.h), and then has changed nothing; nothing else. `stop`: the client
  // no longer waits for the answer.
  virtual Reply answer(const Admitted& admitted, const std::stop_token& stop) = 0;
  // Outlives the service.
  [[nodiscard]] virtual compat::ServerMetrics& metrics() const = 0;
};

// How long a connection may be without a request, have one whose request or answer does not move, and take to
// send one, or to read its answer, from the first byte to the last.
struct Patience {
  std::chrono::milliseconds idle_max, stalled_max, request_max;
};

class Connection {
 public:
  virtual ~Connection() = default;
  virtual void start() = 0;
  // Called at intervals: ends the connection if its client takes longer than we have patience.
  virtual void tick(std::chrono::milliseconds since_last_tick, const Patience& patience) = 0;
  virtual void close() = 0;
  [[nodiscard]] virtual const HeldBytes::Share& unread() const = 0;
  // Of the request that is coming; nothing: there is none that could be refused.
  [[nodiscard]] virtual const HeldBytes::Share* arriving() const = 0;
  // Refuses the request that is coming, and lets go what it held. Requires: arriving().
  virtual void refuse_for_memory() = 0;
};

}  // namespace mayfly::http
