// Room for what large requests become once they are parsed: a tree, and the items and expressions made of it,
// many times as large as the text.
//
//   const auto room = memory.room_for(body);   // waits until there is some
//   const auto document = json::parse(body);
//
// Without it, a hundred requests of a few kilobytes of gzip took 2 GB. Parsed requests are short-lived, so
// requests wait for each other instead of being refused. Thread-safe. A small request neither counts nor
// waits, so that io threads, which parse no others, never wait here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "engine/mutex.h"

namespace mayfly::compat {

class RequestMemory {
 public:
  // Requests up to this size do not count.
  static constexpr std::size_t small_bytes_max = 128 * 1024;
  // Measured: 12 bytes for each byte of "[]," and 6 for each of {"NULL":true}; text takes 2.
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

  // `bytes_max`: of all of them together. A request that takes more has it alone.
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
