// Who decides which thread comes next, where threads may come between each other.
//
// In the product nobody does, and the threads run as the operating system lets them. A simulation
// (tests/simulation) runs one thread at a time: before each lock that is taken, where a thread waits, and at
// the places that name themselves, it may let another go first. So a seed decides, and what was found is
// found again.
//
//   interleave("snapshot found");     // nothing, unless somebody uses an Interleaving
#pragma once

#include <atomic>
#include <string_view>

#include "engine/thread_local.h"

namespace mayfly::engine {

class Interleaving {
 public:
  // For all threads of the process, from now on; nullptr: nobody decides. Requires: no thread waits or holds
  // a lock of mutex.h.
  static void use(Interleaving* interleaving) { used_.store(interleaving, std::memory_order_release); }
  [[nodiscard]] static Interleaving* used() { return used_.load(std::memory_order_acquire); }

  // Others may go first.
  virtual void reached(std::string_view place) = 0;
  // Others go first: the thread has looked for something that one of them has to do, and will look again.
  // False: so have they all, and who waits for a time takes it for over.
  virtual bool blocked() = 0;

  // As long as it lives the thread goes on without any other: it is inside of a library that has locks of its
  // own.
  class Alone {
   public:
    Alone() { ++depth_; }
    ~Alone() { --depth_; }
    Alone(const Alone&) = delete;
    Alone& operator=(const Alone&) = delete;
    [[nodiscard]] static bool here() { return depth_ > 0; }

   private:
    inline static THREAD_LOCAL int depth_ = 0;
  };

 protected:
  ~Interleaving() = default;

 private:
  inline static std::atomic<Interleaving*> used_{nullptr};
};

inline void interleave(std::string_view place) {
  if (Interleaving* const interleaving = Interleaving::used()) [[unlikely]]
    interleaving->reached(place);
}

}  // namespace mayfly::engine
