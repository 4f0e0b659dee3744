// A shared mutex that is not denied for ever to whoever wants it alone. Everybody comes through a turnstile,
// and whoever wants the mutex alone keeps that closed while waiting for those who came before. (glibc's
// rwlock prefers readers, and a busy table never has a gap.)
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
