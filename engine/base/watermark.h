// The sequence number of the last readable change record: every record up to it can be read, and no later one
// can.
//
// Only the committer moves it, after a batch is written. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

namespace mayfly::engine {

using Sequence = std::uint64_t;

class Watermark {
 public:
  [[nodiscard]] Sequence published() const { return published_.load(std::memory_order_acquire); }

 private:
  friend class Committer;
  void move_to(Sequence sequence) { published_.store(sequence, std::memory_order_release); }

  std::atomic<Sequence> published_{0};
};

}  // namespace mayfly::engine
