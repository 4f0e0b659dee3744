#include "cli/base/deadline.h"

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

namespace mayfly::cli {

Deadline::Deadline(std::chrono::milliseconds time, std::function<void()> passed)
    : thread_([time, passed = std::move(passed)](const std::stop_token& stop) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any().wait_for(lock, stop, time, [] { return false; });
        if (!stop.stop_requested()) passed();
      }) {}

}  // namespace mayfly::cli
