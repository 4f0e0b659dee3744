// A shared mutex that who wants it alone does get: others come through a turnstile, which who wants it alone
// holds while it waits for those before it (glibc's rwlock prefers readers, and a busy table never has a
// gap).
#pragma once

#include <mutex>
#include <shared_mutex>

namespace mayfly::engine {

class Gate {
 public:
  void lock() {
    turnstile_.lock();
    mutex_.lock();
  }
  void unlock() {
    mutex_.unlock();
    turnstile_.unlock();
  }
  void lock_shared() {
    { const std::lock_guard pass(turnstile_); }
    mutex_.lock_shared();
  }
  void unlock_shared() { mutex_.unlock_shared(); }

 private:
  std::mutex turnstile_;
  std::shared_mutex mutex_;
};

}  // namespace mayfly::engine
