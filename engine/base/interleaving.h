// An Interleaving decides which thread runs next at each point where threads can interleave.
//
// In production no Interleaving is in use, and the operating system schedules the threads. A simulation
// (tests/simulation) runs one thread at a time. Before a thread takes a lock, when it waits, and at named
// places, the Interleaving may let another thread run first. A seed determines these decisions, so a failure
// can be reproduced from its seed.
//
//   interleave("snapshot found");     // does nothing unless an Interleaving is in use
#pragma once

#include <atomic>
#include <string_view>

#include "engine/base/thread_local.h"

namespace mayfly::engine {

class Interleaving {
 public:
  // Makes all threads of the process use this Interleaving from now on; nullptr removes the current one.
  // Requires: no thread holds or waits for a lock of mutex.h.
  static void use(Interleaving* interleaving) { used_.store(interleaving, std::memory_order_release); }
  [[nodiscard]] static Interleaving* used() { return used_.load(std::memory_order_acquire); }

  // Called at a point where other threads may run first.
  virtual void reached(std::string_view place) = 0;
  // Called when a thread cannot continue until another thread has acted. Lets other threads run; the
  // caller then checks again. Returns false if all threads are blocked; in that case, a wait with a time
  // limit times out.
  virtual bool blocked() = 0;

  // While an Alone exists, the Interleaving does not let another thread run before the thread that created
  // it, because that thread is inside a library that has its own locks.
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
