// Log lines about clients' activity: expired items, faults that struck, functions that do not answer, and
// TTLs that can never expire an item. At most `lines_a_second_max` lines are logged per second.
//
//   options.database.notice = [notices = std::make_shared<Notices>()](auto sentence) {
//     notices->take(sentence);
//   };
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/base/mutex.h"
#include "engine/base/stopwatch.h"
#include "http/base/log.h"

namespace mayfly::cli {

class Notices {
 public:
  static constexpr std::size_t lines_a_second_max = 20;

  explicit Notices(http::log::Level level = http::log::Level::info) : level_(level) {}
  void take(std::string_view sentence);  // thread-safe

 private:
  const http::log::Level level_;
  engine::Mutex mutex_;
  engine::Stopwatch second_ GUARDED_BY(mutex_);
  std::size_t lines_ GUARDED_BY(mutex_) = 0;  // lines logged in the current second
  std::uint64_t left_out_ GUARDED_BY(mutex_) = 0;
};

}  // namespace mayfly::cli
