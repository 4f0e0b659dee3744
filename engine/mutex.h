// Mutexes whose use a compiler checks: Clang's -Wthread-safety, which script/lint runs, knows what each one
// guards.
//
//   mutable Mutex mutex_;
//   std::deque<Window> windows_ GUARDED_BY(mutex_);
//   void drop_oldest() REQUIRES(mutex_);             // its callers hold it
//
//   const Lock lock(mutex_);                         // until the end of the block
//   moved_.wait(lock, [&]() REQUIRES(mutex_) { return !windows_.empty(); });
//
// Other compilers see std::mutex and comments that cannot be overlooked. Where an Interleaving is used,
// taking a lock and waiting let other threads go first.
#pragma once

#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#include "engine/interleaving.h"

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
// For what the analysis cannot follow: a lock that moves, one of many. Each use says why it is right.
#define NO_THREAD_SAFETY_ANALYSIS MAYFLY_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace mayfly::engine {

// Takes a lock that others may hold.
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

// Holds a Mutex, or a SharedMutex alone, until its end; may let go of it meanwhile.
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

// Holds a SharedMutex beside others who do.
class SCOPED_CAPABILITY SharedLock {
 public:
  explicit SharedLock(SharedMutex& mutex) ACQUIRE_SHARED(mutex) : mutex_(mutex) { mutex.lock_shared(); }
  ~SharedLock() RELEASE_GENERIC() { mutex_.unlock_shared(); }
  SharedLock(const SharedLock&) = delete;
  SharedLock& operator=(const SharedLock&) = delete;

 private:
  SharedMutex& mutex_;
};

// std::condition_variable for these. The waits that a std::stop_token ends are std::condition_variable_any's,
// which takes a Lock as it is.
class Condition {
 private:
  template <class Wait>
  auto with(const Lock<Mutex>& lock, Wait wait) {
    std::unique_lock held(lock.mutex_.mutex_, std::adopt_lock);
    struct Return {
      std::unique_lock<std::mutex>& held;
      ~Return() { held.release(); }  // it stays locked: `lock` unlocks it
    } returns{held};
    return wait(held);
  }

  // Waits by the Interleaving. False: nothing will come.
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

  // Requires: the lock is held. It is again when they return.
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
  // False: the instant came first.
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

  // Once, or for nothing. Who waits so is stepped by no Interleaving.
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
