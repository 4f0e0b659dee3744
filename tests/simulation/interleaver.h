// Threads that run one at a time, in an order that a seed chooses: which one goes on is decided at every lock
// that the engine takes (engine/interleaving.h).
//
//   Interleaver interleaver(seed, /*switches_one_in=*/4);
//   interleaver.run({[&] { write(); }, [&] { read(); }});   // returns when both have
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <semaphore>
#include <string_view>
#include <vector>

#include "engine/interleaving.h"

namespace mayfly::testing {

class Interleaver final : public engine::Interleaving {
 public:
  // Told of each place, before anybody else goes on.
  using Watcher = std::function<void(std::string_view place)>;

  // Once in so many places another thread is given its turn. `on_deadlock`: all threads wait; it does not
  // return.
  Interleaver(std::uint64_t seed, unsigned switches_one_in, Watcher watcher,
              std::function<void()> on_deadlock);
  ~Interleaver();
  Interleaver(const Interleaver&) = delete;
  Interleaver& operator=(const Interleaver&) = delete;

  void run(std::vector<std::function<void()>> threads);

  void reached(std::string_view place) override;
  bool blocked() override;

  // Of this thread: its place in what was given to run(); nothing outside of that: -1.
  [[nodiscard]] static int self() { return self_; }
  [[nodiscard]] std::uint64_t switches() const { return switches_; }

 private:
  struct Thread {
    std::binary_semaphore turn{0};
    bool lives = true;
    bool waits = false;  // looked in vain, and nobody has done anything since
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
