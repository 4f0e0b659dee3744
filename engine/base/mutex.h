// Mutexes whose locking rules are checked at compile time by Clang's -Wthread-safety, which script/lint runs.
//
//   mutable Mutex mutex_;
//   std::deque<Window> windows_ GUARDED_BY(mutex_);
//   void drop_oldest() REQUIRES(mutex_);             // its callers hold the mutex
//
//   const Lock lock(mutex_);                         // until the end of the block
//   moved_.wait(lock, [&]() REQUIRES(mutex_) { return !windows_.empty(); });
//
// For other compilers, the annotations are only documentation. While an Interleaving is in use, taking a lock
// and waiting let other threads run first.
#pragma once

#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#include "engine/base/interleaving.h"

#if defined(__clang__)
#define MAYFLY_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define MAYFLY_THREAD_ATTRIBUTE(x)
#endif

#define CAPABILITY(name) MAYFLY_THREAD_ATTRIBUTE(capability(name))
#define SCOPED_CAPABILITY MAYFLY_THREAD_ATTRIBUTE(scoped_lockable)
#define GUARDED_BY(mutex) MAYFLY_THREAD_ATTRIBUTE(guarded_by(mutex))
#define REQUIRES(...) MAYFLY_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) MAYFLY_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define ACQUIRE(...) MAYFLY_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define ACQUIRE_SHARED(...) MAYFLY_THREAD_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define TRY_ACQUIRE_SHARED(...) MAYFLY_THREAD_ATTRIBUTE(try_acquire_shared_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) MAYFLY_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define RELEASE(...) MAYFLY_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define RELEASE_GENERIC(...) MAYFLY_THREAD_ATTRIBUTE(release_generic_capability(__VA_ARGS__))
// For code that the analysis cannot follow, such as code that moves a lock object or that holds one of many
// locks. Each use explains why the code is correct.
#define NO_THREAD_SAFETY_ANALYSIS MAYFLY_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace mayfly::engine {

// Takes a lock that another thread may hold. `take` blocks; `try_to` returns whether it got the lock.
template <class Take, class Try>
void take_lock(Take take, Try try_to) {
  Interleaving* const interleaving = Interleaving::used();
  if (interleaving == nullptr) [[likely]]
    return take();
  interleaving->reached("lock");
  while (!try_to()) static_cast<void>(interleaving->blocked());
}

class CAPABILITY("mutex") Mutex {
 public:
  void lock() ACQUIRE() {
    take_lock([&] { mutex_.lock(); }, [&] { return mutex_.try_lock(); });
  }
  bool try_lock() TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }

 private:
  friend class Condition;
  std::mutex mutex_;
};

class CAPABILITY("mutex") SharedMutex {
 public:
  void lock() ACQUIRE() {
    take_lock([&] { mutex_.lock(); }, [&] { return mutex_.try_lock(); });
  }
  void unlock() RELEASE() { mutex_.unlock(); }
  void lock_shared() ACQUIRE_SHARED() {
    take_lock([&] { mutex_.lock_shared(); }, [&] { return mutex_.try_lock_shared(); });
  }
  bool try_lock_shared() TRY_ACQUIRE_SHARED(true) { return mutex_.try_lock_shared(); }
  void unlock_shared() RELEASE_GENERIC() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

// Holds a Mutex, or a SharedMutex in exclusive mode, during this object's lifetime. Before the object is
// destroyed, unlock() can release the mutex, and lock() can take it again.
template <class M>
class SCOPED_CAPABILITY Lock {
 public:
  explicit Lock(M& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex.lock(); }
  ~Lock() RELEASE() {
    if (held_) mutex_.unlock();
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  void lock() ACQUIRE() {
    mutex_.lock();
    held_ = true;
  }
  void unlock() RELEASE() {
    held_ = false;
    mutex_.unlock();
  }

 private:
  friend class Condition;
  M& mutex_;
  bool held_ = true;
};

// Holds a SharedMutex in shared mode during this object's lifetime.
class SCOPED_CAPABILITY SharedLock {
 public:
  explicit SharedLock(SharedMutex& mutex) ACQUIRE_SHARED(mutex) : mutex_(mutex) { mutex.lock_shared(); }
  ~SharedLock() RELEASE_GENERIC() { mutex_.unlock_shared(); }
  SharedLock(const SharedLock&) = delete;
  SharedLock& operator=(const SharedLock&) = delete;

 private:
  SharedMutex& mutex_;
};

// A std::condition_variable that works with Mutex and Lock. For a wait that a std::stop_token can end, use
// std::condition_variable_any, which accepts a Lock directly.
class Condition {
 private:
  template <class Wait>
  auto with(const Lock<Mutex>& lock, Wait wait) {
    std::unique_lock held(lock.mutex_.mutex_, std::adopt_lock);
    struct Return {
      std::unique_lock<std::mutex>& held;
      ~Return() { held.release(); }  // the mutex stays locked: `lock` unlocks it
    } returns{held};
    return wait(held);
  }

  // Waits by letting the Interleaving run other threads. Returns false if the predicate is still false and no
  // other thread can make it true.
  template <class Predicate>
  bool wait_for_others(std::unique_lock<std::mutex>& held, Interleaving& interleaving,
                       Predicate predicate) NO_THREAD_SAFETY_ANALYSIS {
    bool may_come = true;
    while (!predicate() && may_come) {
      held.unlock();
      may_come = interleaving.blocked();
      while (!held.try_lock()) static_cast<void>(interleaving.blocked());
    }
    return predicate();
  }

 public:
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

  // Requires: the caller holds `lock`. Each wait releases the lock and takes it again before it returns.
  template <class Predicate>
  void wait(const Lock<Mutex>& lock, Predicate predicate) {
    with(lock, [&](auto& held) {
      if (Interleaving* const interleaving = Interleaving::used()) [[unlikely]] {
        while (!wait_for_others(held, *interleaving, predicate)) {}
      } else {
        condition_.wait(held, predicate);
      }
    });
  }
  // Returns false if the predicate is still false at `instant`.
  template <class Instant, class Predicate>
  bool wait_until(const Lock<Mutex>& lock, const Instant& instant, Predicate predicate) {
    return with(lock, [&](auto& held) {
      if (Interleaving* const interleaving = Interleaving::used()) [[unlikely]]
        return wait_for_others(held, *interleaving, predicate);
      return condition_.wait_until(held, instant, predicate);
    });
  }
  template <class Duration, class Predicate>
  bool wait_for(const Lock<Mutex>& lock, const Duration& duration, Predicate predicate) {
    return with(lock, [&](auto& held) { return condition_.wait_for(held, duration, predicate); });
  }

  // Returns after one notification, or spuriously. An Interleaving does not control this wait.
  void wait(const Lock<Mutex>& lock) {
    with(lock, [&](auto& held) { condition_.wait(held); });
  }
  template <class Instant>
  void wait_until(const Lock<Mutex>& lock, const Instant& instant) {
    with(lock, [&](auto& held) { condition_.wait_until(held, instant); });
  }

 private:
  std::condition_variable condition_;
};

}  // namespace mayfly::engine
