// Bounds the bytes that connections of an io thread hold of one kind: answers which clients have not taken
// yet, requests which have not all come.
//
// A client may ask for sixteen megabytes, again and again on new connections, and never read; or send all but
// the last byte of sixteen, again and again. While all such hold more than `bytes_max`, the connection whose
// share moved the longest ago gives up what it holds; so those that read, however slowly, come after all that
// do not, and a request that has just begun to come after one that has been coming for minutes. Used on its
// io thread only.
//
//   unread_answers.hold(share_, out_.size());     // may close connections, this one too
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "compat/server_metrics.h"

namespace mayfly::http {

class HeldBytes {
 public:
  // One connection's.
  struct Share {
    std::size_t bytes = 0;
    std::uint64_t moved = 0;  // when it began, or `moved` was called, in steps of all connections
  };

  // `free_oldest`: releases the share, of those that have bytes and can be, that moved the longest ago.
  // False: there is none. `meter`: where the bytes are counted.
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
