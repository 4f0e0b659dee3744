#include "engine/upkeep.h"

#include <system_error>
#include <utility>

namespace mayfly::engine {

void Upkeep::ring() noexcept {
  const Lock lock(mutex_);
  rung_ = true;
  moved_.notify_all();
  if (stop_ || thread_.joinable()) return;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {}
}

void Upkeep::run() {
  Lock lock(mutex_);
  std::optional<std::chrono::milliseconds> pause;
  for (;;) {
    const auto woken = [&]() REQUIRES(mutex_) { return rung_ || stop_; };
    if (pause) {
      moved_.wait_for(lock, *pause, woken);
    } else {
      moved_.wait(lock, woken);
    }
    if (stop_) return;
    rung_ = false;
    lock.unlock();
    pause = work_();
    lock.lock();
  }
}

void Upkeep::stop() {
  std::thread thread;
  {
    const Lock lock(mutex_);
    stop_ = true;
    moved_.notify_all();
    thread = std::move(thread_);
  }
  if (thread.joinable()) thread.join();
}

}  // namespace mayfly::engine
