// Bounds the bytes that answers hold which clients have not taken yet, over all connections of an io thread.
//
// A client may ask for sixteen megabytes, again and again on new connections, and never read. While all such
// answers hold more than `bytes_max`, the connection that has taken nothing for the longest time is closed;
// so those that read, however slowly, come after all that do not. Used on its io thread only.
//
//   answers.hold(share_, out_.size());     // may close connections, this one too
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace mayfly::http {

class UnreadAnswers {
 public:
  // One connection's.
  struct Share {
    std::size_t bytes = 0;
    std::uint64_t moved = 0;  // when something was last taken of it, in steps of all connections
  };

  // `close_oldest`: closes the connection whose share has bytes and moved the longest ago, and releases that
  // share. False: no share has bytes.
  UnreadAnswers(std::size_t bytes_max, std::function<bool()> close_oldest)
      : bytes_max_(bytes_max), close_oldest_(std::move(close_oldest)) {}

  void hold(Share& share, std::size_t bytes) {
    bytes_ += bytes - share.bytes;
    share = {bytes, ++steps_};
    while (bytes_ > bytes_max_ && close_oldest_()) {}
  }
  void moved(Share& share) { share.moved = ++steps_; }
  void release(Share& share) {
    bytes_ -= share.bytes;
    share.bytes = 0;
  }

 private:
  const std::size_t bytes_max_;
  const std::function<bool()> close_oldest_;
  std::size_t bytes_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace mayfly::http
