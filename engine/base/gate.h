// A shared mutex that does not starve threads that want it exclusively.
//
// Threads enter through a turnstile. A thread that wants the mutex exclusively keeps the turnstile closed
// while it waits for the earlier holders to leave. (glibc's rwlock prefers readers, and a busy table always
// has one.)
//
// Gates are held by lock objects that move, which Clang's analysis does not follow.
#pragma once

#include "engine/base/hurry.h"
#include "engine/base/mutex.h"

namespace mayfly::engine {

class Gate {
 public:
  void lock() NO_THREAD_SAFETY_ANALYSIS {
    turnstile_.lock();
    mutex_.lock();
  }
  void unlock() NO_THREAD_SAFETY_ANALYSIS {
    mutex_.unlock();
    turnstile_.unlock();
  }
  // In a Hurry (hurry.h), throws NotNow instead of waiting.
  void lock_shared() NO_THREAD_SAFETY_ANALYSIS {
    lock_in_hurry(turnstile_);
    turnstile_.unlock();
    lock_shared_in_hurry(mutex_);
  }
  // Returns false if another thread holds the mutex exclusively. Never waits: it bypasses the turnstile, and
  // so may overtake a thread that waits for exclusive access.
  [[nodiscard]] bool try_lock_shared() NO_THREAD_SAFETY_ANALYSIS { return mutex_.try_lock_shared(); }
  void unlock_shared() NO_THREAD_SAFETY_ANALYSIS { mutex_.unlock_shared(); }

 private:
  Mutex turnstile_;
  SharedMutex mutex_;
};

}  // namespace mayfly::engine
