#include "cli/base/notices.h"

#include <string>

namespace mayfly::cli {

void Notices::take(std::string_view sentence) {
  const engine::Lock lock(mutex_);
  if (second_.elapsed() >= std::chrono::seconds(1)) {
    second_ = engine::Stopwatch();
    lines_ = 0;
  }
  if (lines_ == lines_a_second_max) {
    ++left_out_;
    return;
  }
  ++lines_;
  http::log::write(level_,
                   std::string(sentence) +
                       (left_out_ == 0 ? "" : " (" + std::to_string(left_out_) + " earlier lines omitted)"));
  left_out_ = 0;
}

}  // namespace mayfly::cli
