// Threads that share work whose parts wait for answers.
//
//   workers.each(entries.size(), [&](std::size_t n) { settle(entries[n]); });   // waits for all of them
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "engine/mutex.h"

namespace mayfly::sweep {

// Thread-safe: several may give work at once, and who gives some works, too.
class Workers {
 public:
  explicit Workers(std::size_t threads);  // beside who gives work; fewer, where no more can be had
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void each(std::size_t count, const std::function<void(std::size_t)>& part) EXCLUDES(mutex_);

 private:
  struct Work {
    const std::function<void(std::size_t)>& part;
    const std::size_t count;
    std::size_t next = 0, done = 0;
  };
  // Does one part of it, and lets go of the lock meanwhile. Requires: it has one left.
  void do_one(const std::shared_ptr<Work>& work, engine::Lock<engine::Mutex>& lock) NO_THREAD_SAFETY_ANALYSIS;
  void run() EXCLUDES(mutex_);

  engine::Mutex mutex_;
  engine::Condition changed_;
  std::vector<std::shared_ptr<Work>> works_ GUARDED_BY(mutex_);  // that have parts left to begin
  bool ended_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace mayfly::sweep
