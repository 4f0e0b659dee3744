#include "cli/transfer/interruption.h"

#include <algorithm>
#include <utility>

#include "os/process.h"

namespace mayfly::transfer {

Interruption::Interruption(cli::EndSignals::Late late)
    : signals_(cli::EndSignals::Another::ends_the_process, std::move(late)) {
  os::let_writes_fail();
}

bool Interruption::pause(std::chrono::milliseconds time) const {
  constexpr std::chrono::milliseconds slice{50};
  for (; time.count() > 0 && !is_wanted(); time -= slice) signals_.wait(std::min(time, slice));
  return !is_wanted();
}

}  // namespace mayfly::transfer
