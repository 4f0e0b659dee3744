// A shared mutex that does not starve threads that need exclusive access.
//
// Threads enter through a turnstile. A thread that needs exclusive access keeps the turnstile closed while it
// waits for the earlier holders to release the mutex. (glibc's rwlock prefers readers. A busy table always
// has readers, so a writer might wait forever.)
//
// The lock objects that hold a gate can be moved, and Clang's analysis cannot follow such objects.
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
