// A thread that others wait for is in a hurry: it must not wait, and must not work on one request for long.
//
// Work says what it is about to cost, before it does it, in nanoseconds of the slowest case that was
// measured. When that comes to more than a hurry allows, or a lock is held by another thread, the work is
// given up with NotNow: it has changed nothing, and a thread that has time begins it again. Once a
// transaction commits there is no way back, and the hurry is over: the transaction has spent what its commit
// costs.
//
//   const Hurry hurry(5'000'000);
//   try { return answer(request); } catch (const NotNow& why) { return hand_over(request, why); }
//
// Threads without a Hurry work and wait as long as it takes; telling costs them a few instructions.
#pragma once

#include <cstdint>
#include <limits>

#include "engine/mutex.h"
#include "engine/thread_local.h"

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

  // Throws NotNow if this is more than is left.
  static void spend(std::uint64_t nanoseconds) {
    left_ -= static_cast<std::int64_t>(nanoseconds);
    if (left_ < 0) [[unlikely]]
      spent();
  }
  // Whether this thread must not wait.
  static bool is_on() { return is_on_; }
  // Where it would have to. Requires: is_on().
  [[noreturn]] static void give_way();
  // From here on the work can no longer be given up.
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

// Takes a lock that others mostly hold for a short time only. A thread in a hurry tries a few times and then
// gives way. Which lock is held afterwards is more than Clang's analysis can follow.
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
