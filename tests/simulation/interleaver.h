// Runs threads one at a time, in an order that depends on a seed. At every lock that the engine takes
// (engine/base/interleaving.h), the interleaver decides which thread continues.
//
//   Interleaver interleaver(seed, /*switches_one_in=*/4);
//   interleaver.run({[&] { write(); }, [&] { read(); }});   // returns when both have returned
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <semaphore>
#include <string_view>
#include <vector>

#include "engine/base/interleaving.h"

namespace mayfly::testing {

class Interleaver final : public engine::Interleaving {
 public:
  // Called at each place, before another thread continues.
  using Watcher = std::function<void(std::string_view place)>;

  // Switches to another thread at one in `switches_one_in` places, on average. Calls `on_deadlock`, which
  // must not return, when all threads wait.
  Interleaver(std::uint64_t seed, unsigned switches_one_in, Watcher watcher,
              std::function<void()> on_deadlock);
  ~Interleaver();
  Interleaver(const Interleaver&) = delete;
  Interleaver& operator=(const Interleaver&) = delete;

  void run(std::vector<std::function<void()>> threads);

  void reached(std::string_view place) override;
  bool blocked() override;

  // This thread's position in the argument of run(), or -1 for other threads.
  [[nodiscard]] static int self() { return self_; }
  [[nodiscard]] std::uint64_t switches() const { return switches_; }

 private:
  struct Thread {
    std::binary_semaphore turn{0};
    bool lives = true;
    bool waits = false;  // it was blocked, and no thread has made progress since
  };

  [[nodiscard]] std::vector<int> candidates(bool waiting_too) const;
  void hand_over(int next);
  void progressed();

  std::mt19937_64 random_;
  const unsigned switches_one_in_;
  const Watcher watcher_;
  const std::function<void()> on_deadlock_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::binary_semaphore all_returned_{0};
  int rounds_in_vain_ = 0;
  std::uint64_t switches_ = 0;
  inline static thread_local int self_ = -1;
};

}  // namespace mayfly::testing
