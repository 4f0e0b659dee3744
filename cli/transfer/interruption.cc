#include "cli/transfer/interruption.h"

#include <algorithm>
#include <csignal>
#include <utility>

namespace mayfly::transfer {

Interruption::Interruption(cli::EndSignals::Late late)
    : signals_(cli::EndSignals::Another::ends_the_process, std::move(late)) {
  std::signal(SIGPIPE, SIG_IGN);
}

bool Interruption::pause(std::chrono::milliseconds time) const {
  constexpr std::chrono::milliseconds slice{50};
  for (; time.count() > 0 && !is_wanted(); time -= slice) signals_.wait(std::min(time, slice));
  return !is_wanted();
}

}  // namespace mayfly::transfer
