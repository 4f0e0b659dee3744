// The source of random ids. With a seeded source, the ids are the same in every run. Only the ids of HTTP
// requests and DNS queries come from another source (in http/), because nothing that is stored or passed on
// depends on those ids.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/base/splitmix.h"

namespace mayfly::engine {

class Random {
 public:
  virtual ~Random() = default;
  [[nodiscard]] virtual std::uint64_t next() = 0;  // uniformly distributed
};

class SystemRandom final : public Random {
 public:
  [[nodiscard]] std::uint64_t next() override;
};

// For tests: the same seed yields the same numbers in the same order. A test that reopens a directory must
// keep using the same object or choose another seed; otherwise ids would repeat.
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
