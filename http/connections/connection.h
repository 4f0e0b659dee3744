// The interface of a connection for a server's thread, independent of the transport. The only implementation
// is Session (session.h), over plain TCP and over TLS.
#pragma once

#include <chrono>

#include "http/base/held_bytes.h"

namespace mayfly::http {

// Time limits of a connection: the time without a request, the time during which a request or a response
// makes no progress, and the time to receive a whole request or to send its whole response.
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
  // Returns the share of the request that is being received, or nullptr if there is no such request or it can
  // no longer be rejected.
  [[nodiscard]] virtual const HeldBytes::Share* arriving() const = 0;
  // Rejects the request that is being received, and frees its memory.
  // Requires: arriving() is not nullptr.
  virtual void refuse_for_memory() = 0;
};

}  // namespace mayfly::http
