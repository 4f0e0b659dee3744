// A thread pool for work whose parts mostly wait for answers from a server.
//
//   workers.each(entries.size(), [&](std::size_t n) { settle(entries[n]); });   // waits for all of them
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "engine/base/mutex.h"

namespace mayfly::cli {

// Thread-safe. Several threads can submit work at once. A submitting thread also works while it waits.
class Workers {
 public:
  explicit Workers(
      std::size_t threads);  // in addition to the callers; fewer if no more threads are available
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
  // Runs one part of `work` and releases the lock meanwhile. Requires: `work` has a part that has not begun.
  void do_one(const std::shared_ptr<Work>& work, engine::Lock<engine::Mutex>& lock) NO_THREAD_SAFETY_ANALYSIS;
  void run() EXCLUDES(mutex_);

  engine::Mutex mutex_;
  engine::Condition changed_;
  std::vector<std::shared_ptr<Work>> works_ GUARDED_BY(mutex_);  // work that has parts that have not begun
  bool ended_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace mayfly::cli
