// What somebody who watches would like to know, as lines of the log: what has expired, faults that struck,
// functions that do not answer. However often it happens, so many lines a second and no more.
//
//   options.database.notice = [notices = std::make_shared<Notices>()](auto sentence) {
//   notices->take(sentence); };
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/mutex.h"
#include "engine/stopwatch.h"

namespace mayfly::http {

class Notices {
 public:
  static constexpr std::size_t lines_a_second_max = 20;

  void take(std::string_view sentence);  // by any thread

 private:
  engine::Mutex mutex_;
  engine::Stopwatch second_ GUARDED_BY(mutex_);
  std::size_t lines_ GUARDED_BY(mutex_) = 0;  // in this second
  std::uint64_t left_out_ GUARDED_BY(mutex_) = 0;
};

}  // namespace mayfly::http
