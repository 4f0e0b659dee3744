#include "compat/data_files/record_parser.h"

#include <algorithm>

namespace mayfly::compat::data_files {

void Text::pass(std::size_t count) {
  const auto passed = rest().substr(0, count);
  line_ += static_cast<std::uint64_t>(std::count(passed.begin(), passed.end(), '\n'));
  offset_ += count;
  begin_ += count;
  // Passed text is erased when it is at least half of the buffer, so that each byte is moved once or twice.
  if (begin_ * 2 < bytes_.size()) return;
  bytes_.erase(0, begin_);
  begin_ = 0;
}

}  // namespace mayfly::compat::data_files
