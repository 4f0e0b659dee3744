#include "cli/sweep/workers.h"

#include <system_error>

namespace mayfly::sweep {

Workers::Workers(std::size_t threads) {
  try {
    for (std::size_t n = 0; n < threads; ++n) threads_.emplace_back([this] { run(); });
  } catch (const std::system_error&) {
    // Those that there are do it.
  }
}

Workers::~Workers() {
  {
    const engine::Lock lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

bool Workers::do_one(engine::Lock<engine::Mutex>& lock) {
  if (works_.empty()) return false;
  const std::shared_ptr<Work> work = works_.front();
  const std::size_t n = work->next++;
  if (work->next == work->count) works_.erase(works_.begin());
  lock.unlock();
  work->part(n);
  lock.lock();
  if (++work->done == work->count) changed_.notify_all();
  return true;
}

void Workers::each(std::size_t count, const std::function<void(std::size_t)>& part) {
  if (count == 0) return;
  engine::Lock lock(mutex_);
  const auto work = std::make_shared<Work>(Work{part, count});
  works_.push_back(work);
  changed_.notify_all();
  while (work->next < work->count) do_one(lock);
  changed_.wait(lock, [&] { return work->done == work->count; });
}

void Workers::run() {
  engine::Lock lock(mutex_);
  while (!ended_) {
    if (do_one(lock)) continue;
    changed_.wait(lock, [&]() REQUIRES(mutex_) { return ended_ || !works_.empty(); });
  }
}

}  // namespace mayfly::sweep
