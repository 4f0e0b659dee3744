// A shared mutex that is not denied for ever to whoever wants it alone. Everybody comes through a turnstile,
// and whoever wants the mutex alone keeps that closed while waiting for those who came before. (glibc's
// rwlock prefers readers, and a busy table never has a gap.) Who holds it is in a lock that moves, which
// Clang's analysis does not follow.
#pragma once

#include "engine/hurry.h"
#include "engine/mutex.h"

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
  // Gives way (hurry.h) where it would wait.
  void lock_shared() NO_THREAD_SAFETY_ANALYSIS {
    lock_in_hurry(turnstile_);
    turnstile_.unlock();
    lock_shared_in_hurry(mutex_);
  }
  // False: somebody holds it alone. It never waits, so it passes by whoever waits at the turnstile.
  [[nodiscard]] bool try_lock_shared() NO_THREAD_SAFETY_ANALYSIS { return mutex_.try_lock_shared(); }
  void unlock_shared() NO_THREAD_SAFETY_ANALYSIS { mutex_.unlock_shared(); }

 private:
  Mutex turnstile_;
  SharedMutex mutex_;
};

}  // namespace mayfly::engine
