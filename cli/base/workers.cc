#include "cli/base/workers.h"

#include <system_error>

namespace mayfly::cli {

Workers::Workers(std::size_t threads) {
  try {
    for (std::size_t n = 0; n < threads; ++n) threads_.emplace_back([this] { run(); });
  } catch (const std::system_error&) {
    // The pool then has only the threads that could be started.
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

void Workers::do_one(const std::shared_ptr<Work>& work, engine::Lock<engine::Mutex>& lock) {
  const std::size_t n = work->next++;
  std::erase(works_, work);
  if (work->next < work->count) works_.push_back(work);  // behind other work, so that all work makes progress
  lock.unlock();
  work->part(n);
  lock.lock();
  if (++work->done == work->count) changed_.notify_all();
}

void Workers::each(std::size_t count, const std::function<void(std::size_t)>& part) {
  if (count == 0) return;
  engine::Lock lock(mutex_);
  const auto work = std::make_shared<Work>(Work{part, count});
  works_.push_back(work);
  changed_.notify_all();
  while (work->next < work->count) do_one(work, lock);
  changed_.wait(lock, [&] { return work->done == work->count; });
}

void Workers::run() {
  engine::Lock lock(mutex_);
  while (!ended_) {
    changed_.wait(lock, [&]() REQUIRES(mutex_) { return ended_ || !works_.empty(); });
    if (!ended_) do_one(std::shared_ptr<Work>(works_.front()), lock);
  }
}

}  // namespace mayfly::cli
