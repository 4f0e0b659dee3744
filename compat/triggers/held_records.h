// Limits the memory that the records of all lanes take.
//
// While the limit is reached, a lane reads records only once it has a slot for a call. A lane that waits (for
// a slot, its next attempt, or the end of a batching window) drops its records and reads them again later.
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

  // One lane's share of the memory. A call in flight can keep the share alive after the triggers are
  // destroyed.
  class Share {
   public:
    explicit Share(std::shared_ptr<HeldRecords> whole) : whole_(std::move(whole)) {}
    ~Share() { set(0); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    void set(std::size_t bytes) {
      whole_->bytes_ += bytes - bytes_;  // wraps modulo 2^64, which is correct for negative differences
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
