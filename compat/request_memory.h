// Limits the memory of large parsed requests: the JSON tree and the items and expressions made from it take
// many times the size of the text.
//
//   const auto room = memory.room_for(body);   // waits until enough memory is free
//   const auto document = json::parse(body);
//
// Without this limit, a hundred gzipped requests of a few kilobytes each took 2 GB. Parsed requests are
// short-lived, so a request waits for others instead of being rejected. Thread-safe. Small requests neither
// count nor wait; io threads parse only small requests and therefore never wait here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "engine/base/mutex.h"

namespace mayfly::compat {

class RequestMemory {
 public:
  // Requests up to this size do not count.
  static constexpr std::size_t small_bytes_max = 128 * 1024;
  // Memory per byte of the request, measured: 12 bytes for "[],", 6 for {"NULL":true} and 2 for text.
  static constexpr std::size_t bytes_per_byte = 12;

  class Room {
   public:
    Room() = default;
    Room(Room&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_) {}
    Room& operator=(Room&&) = delete;
    ~Room() {
      if (memory_ != nullptr) memory_->give_back(bytes_);
    }

   private:
    friend class RequestMemory;
    Room(RequestMemory& memory, std::size_t bytes) : memory_(&memory), bytes_(bytes) {}
    RequestMemory* memory_ = nullptr;
    std::size_t bytes_ = 0;
  };

  // `bytes_max` is the limit for all requests together. A request that exceeds it waits until no other large
  // request is in memory.
  explicit RequestMemory(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  [[nodiscard]] Room room_for(std::string_view body) {
    if (body.size() <= small_bytes_max) return {};
    const std::size_t bytes = std::min(bytes_max_, bytes_per_byte * body.size());
    engine::Lock lock(mutex_);
    given_back_.wait(lock, [&]() REQUIRES(mutex_) { return held_ + bytes <= bytes_max_; });
    held_ += bytes;
    return {*this, bytes};
  }

 private:
  void give_back(std::size_t bytes) {
    const engine::Lock lock(mutex_);
    held_ -= bytes;
    given_back_.notify_all();
  }

  const std::size_t bytes_max_;
  engine::Mutex mutex_;
  engine::Condition given_back_;
  std::size_t held_ GUARDED_BY(mutex_) = 0;
};

}  // namespace mayfly::compat
