// What the servers in front of an emulator hold, and whom they turned away: http counts it here, and
// GET /_mayfly/metrics shows it.
//
// Thread-safe; of all servers of the emulator together.
//
//   emulator.server_metrics().add(Meter::connections, 1);
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace mayfly::compat {

// What each is called outside stands in control/metrics_call.cc.
enum class Meter : unsigned char {
  connections,  // open
  // Bytes held of
  request_bytes,  // large requests, until they are answered,
  unread_bytes,   // answers that clients have not taken
  // Requests that wait, by kind, in the order of http/slow_lane.h
  waiting_events,
  waiting_awaits,
  waiting_changes,
  waiting_calls,
  waiting_invocations,
  waiting_operations,
  waiting_agents,
  waiting_locks,
  waiting_processors,
  // Since: requests that an io thread began and handed over
  handed_over,
  closed_idle,     // closed by us, since: no request came,
  closed_stalled,  // a request or an answer did not move,
  closed_slow,     // one took too long altogether,
  closed_unread,   // answers that nobody reads took too much memory
  // Requests refused, since
  refused_bytes,    // all together took too much memory,
  refused_waiting,  // as many as may waited
  // What the machine does not have just now: how many io threads can accept no connection, how many servers
  // can start no thread; and how often that was
  accepts_failing,
  threads_failing,
  accept_failures,
  thread_failures,
  count_
};

class ServerMetrics {
 public:
  void add(Meter meter, std::int64_t by = 1) {
    values_[static_cast<std::size_t>(meter)].fetch_add(by, std::memory_order_relaxed);
  }
  [[nodiscard]] std::int64_t of(Meter meter) const {
    return values_[static_cast<std::size_t>(meter)].load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::int64_t>, static_cast<std::size_t>(Meter::count_)> values_{};
};

}  // namespace mayfly::compat
