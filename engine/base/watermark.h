// The sequence number of the last readable change record: records up to this number can be read, and later
// records cannot be read yet.
//
// Only the committer advances it, after it has written a batch. Thread-safe.
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
