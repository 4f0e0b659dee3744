// Counts the connections, requests and memory that the servers of an emulator hold, and the clients that
// these servers rejected. The code in http/ updates the counters, and GET /_mayfly/metrics shows them.
//
// Thread-safe. The values are sums over all servers of the emulator.
//
//   emulator.server_metrics().add(Meter::connections, 1);
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace mayfly::compat {

// control/metrics_call.cc maps these to their published names.
enum class Meter : unsigned char {
  connections,  // open connections
  // Bytes held by:
  request_bytes,  // large requests that are not answered yet
  unread_bytes,   // responses that clients have not read yet
  // Waiting requests by kind, in the order of http/base/slow_lane.h.
  waiting_events,
  waiting_awaits,
  waiting_changes,
  waiting_calls,
  waiting_invocations,
  waiting_operations,
  waiting_agents,
  waiting_locks,
  waiting_processors,
  // Requests, since the start, that an io thread began and then handed over to another thread.
  handed_over,
  closed_idle,     // connections closed since the start because no request arrived
  closed_stalled,  // closed because a request or a response made no progress
  closed_slow,     // closed because a request or a response took too long in total
  closed_unread,   // closed because unread responses took too much memory
  // Requests rejected since the start.
  refused_bytes,    // because all requests together took too much memory
  refused_waiting,  // because too many requests were waiting
  // Shortages of system resources: the number of io threads that currently cannot accept a connection, the
  // number of servers that currently cannot start a thread, and how often each shortage has occurred.
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
