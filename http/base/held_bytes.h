// Limits the bytes of one kind that the connections of an io thread hold: responses that clients have not
// read yet, or requests that have not fully arrived.
//
// A client may request sixteen megabytes on one new connection after another and never read, or send all but
// the last byte of sixteen megabytes again and again. While the total exceeds `bytes_max`, the connection
// whose share has made no progress for the longest time gives up what it holds. So clients that read nothing
// are closed before slow readers, and a request that has been arriving for minutes is rejected before one
// that has just begun to arrive. Use only on the io thread.
//
//   unread_answers.hold(share_, out_.size());     // may close connections, including this one
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "compat/server_metrics.h"

namespace mayfly::http {

class HeldBytes {
 public:
  // The bytes of one connection.
  struct Share {
    std::size_t bytes = 0;
    // The step, counted over all connections, at which the share began or moved() was last called.
    std::uint64_t moved = 0;
  };

  // `free_oldest` considers the shares that have bytes and can be released, and releases the one whose last
  // move is the oldest. It returns false if there is no such share. `meter` counts the bytes.
  HeldBytes(std::size_t bytes_max, compat::ServerMetrics& metrics, compat::Meter meter,
            std::function<bool()> free_oldest)
      : bytes_max_(bytes_max), metrics_(metrics), meter_(meter), free_oldest_(std::move(free_oldest)) {}

  void hold(Share& share, std::size_t bytes) {
    if (share.bytes == 0) moved(share);
    set(share, bytes);
    while (bytes_ > bytes_max_ && free_oldest_()) {}
  }
  void moved(Share& share) { share.moved = ++steps_; }
  void release(Share& share) { set(share, 0); }

 private:
  void set(Share& share, std::size_t bytes) {
    if (bytes == share.bytes) return;
    metrics_.add(meter_, static_cast<std::int64_t>(bytes) - static_cast<std::int64_t>(share.bytes));
    bytes_ += bytes - share.bytes;
    share.bytes = bytes;
  }

  const std::size_t bytes_max_;
  compat::ServerMetrics& metrics_;
  const compat::Meter meter_;
  const std::function<bool()> free_oldest_;
  std::size_t bytes_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace mayfly::http
