// A Hurry is a time budget for a thread that other threads wait for: the thread must not block, and must not
// spend long on one request.
//
// Code announces the cost of its work before it does the work. The cost is the time of the slowest measured
// case, in nanoseconds. When the announced costs exceed the budget, or another thread holds a lock that the
// work needs, the work is abandoned by throwing NotNow. At that point, the work has changed nothing, and a
// thread without a budget starts it again. A transaction announces the cost of its commit before it commits.
// From then on, the work can no longer be abandoned, so the commit ends the Hurry.
//
//   const Hurry hurry(5'000'000);
//   try { return answer(request); } catch (const NotNow& why) { return hand_over(request, why); }
//
// Threads without a Hurry work and wait as long as necessary; an announcement costs them only a
// few instructions.
#pragma once

#include <cstdint>
#include <limits>

#include "engine/base/mutex.h"
#include "engine/base/thread_local.h"

namespace mayfly::engine {

struct NotNow {
  enum class Because : unsigned char { it_waits, it_works };
  Because because;
};

class Hurry {
 public:
  explicit Hurry(std::int64_t nanoseconds_max) {
    left_ = nanoseconds_max;
    is_on_ = true;
  }
  ~Hurry() { end(); }
  Hurry(const Hurry&) = delete;
  Hurry& operator=(const Hurry&) = delete;

  // Announces work of this cost. Throws NotNow if the cost exceeds the remaining budget.
  static void spend(std::uint64_t nanoseconds) {
    left_ -= static_cast<std::int64_t>(nanoseconds);
    if (left_ < 0) [[unlikely]]
      spent();
  }
  // Whether this thread is in a Hurry, and so must not block.
  static bool is_on() { return is_on_; }
  // Throws NotNow. Call this function instead of blocking. Requires: is_on().
  [[noreturn]] static void give_way();
  // Ends the Hurry: from here on the work cannot be abandoned.
  static void end() {
    is_on_ = false;
    left_ = no_end;
  }

 private:
  static constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::max();
  static void spent();

  static THREAD_LOCAL constinit inline std::int64_t left_ = no_end;
  static THREAD_LOCAL constinit inline bool is_on_ = false;
};

// Takes a lock that is usually held only briefly. A thread in a Hurry tries a limited number of times and
// then throws NotNow. Clang's analysis cannot follow which lock is held afterwards.
inline constexpr int hurried_tries_max = 100;

template <class M>
void lock_in_hurry(M& mutex) NO_THREAD_SAFETY_ANALYSIS {
  if (!Hurry::is_on()) [[likely]]
    return mutex.lock();
  for (int tries = 0; tries < hurried_tries_max; ++tries)
    if (mutex.try_lock()) return;
  Hurry::give_way();
}

inline void lock_shared_in_hurry(SharedMutex& mutex) NO_THREAD_SAFETY_ANALYSIS {
  if (!Hurry::is_on()) [[likely]]
    return mutex.lock_shared();
  for (int tries = 0; tries < hurried_tries_max; ++tries)
    if (mutex.try_lock_shared()) return;
  Hurry::give_way();
}

}  // namespace mayfly::engine
