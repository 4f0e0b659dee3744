// The memory that all lanes' records take, and its bound.
//
// While it is full, a lane reads records only once it has a place for a call, and a lane that waits (for a
// place, for its next attempt, for the end of a batching window) lets its records go and reads them again.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace mayfly::compat::triggers {

class HeldRecords {
 public:
  explicit HeldRecords(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  [[nodiscard]] bool full() const { return bytes_.load() >= bytes_max_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_.load(); }

  // One lane's part, which an answer that is under way may keep longer than there are triggers.
  class Share {
   public:
    explicit Share(std::shared_ptr<HeldRecords> whole) : whole_(std::move(whole)) {}
    ~Share() { set(0); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    void set(std::size_t bytes) {
      whole_->bytes_ += bytes - bytes_;  // modulo 2^64, as both are
      bytes_ = bytes;
    }

   private:
    const std::shared_ptr<HeldRecords> whole_;
    std::size_t bytes_ = 0;
  };

 private:
  const std::size_t bytes_max_;
  std::atomic<std::size_t> bytes_{0};
};

}  // namespace mayfly::compat::triggers
