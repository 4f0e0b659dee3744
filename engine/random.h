// The only place that asks for randomness, of which ids are made; a seed in its place makes them the same in
// every run. http draws its ids of requests and of questions about names by itself: nothing that is stored or
// sent on rests on them.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/splitmix.h"

namespace mayfly::engine {

class Random {
 public:
  virtual ~Random() = default;
  [[nodiscard]] virtual std::uint64_t next() = 0;  // every value is as likely as any other
};

class SystemRandom final : public Random {
 public:
  [[nodiscard]] std::uint64_t next() override;
};

// For tests: the same numbers in the same order for the same seed. Who opens a directory again goes on with
// the same object, or with another seed, so that no id is given twice.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(mix(seed)) {}
  [[nodiscard]] std::uint64_t next() override {
    return mix(state_.fetch_add(splitmix_step, std::memory_order_relaxed) + splitmix_step);
  }

 private:
  std::atomic<std::uint64_t> state_;
};

}  // namespace mayfly::engine
