#include "cli/base/end_signals.h"

#include <system_error>
#include <utility>

#include "os/process.h"

namespace mayfly::cli {

EndSignals::EndSignals(Another another, Late late) : another_(another), late_(std::move(late)) {}

std::optional<os::EndSignal> EndSignals::came() const {
  const os::EndSignal signal = came_;
  return signal == os::EndSignal() ? std::nullopt : std::optional(signal);
}

void EndSignals::take(os::EndSignal signal) {
  if (!came()) {
    came_ = signal;
    event_.set();
    if (late_) begin_to_be_late();
    std::stop_source(stop_).request_stop();
  } else if (another_ == Another::ends_the_process) {
    os::EndSignalListener::end_by(signal);
  }
}

void EndSignals::begin_to_be_late() {
  // A write to standard error blocks if nothing reads it.
  static constexpr std::chrono::seconds blocked_max{1};
  try {
    deadline_.emplace(late_after, [this] {
      os::end_after(blocked_max);
      if (const auto status = late_()) os::exit_now(*status);
      os::cancel_end();
    });
  } catch (const std::system_error&) {
    os::end_after(blocked_max);  // no thread is available for the deadline
  }
}

std::optional<os::EndSignal> EndSignals::wait(std::optional<std::chrono::milliseconds> time) const {
  (void)event_.wait(time);
  return came();
}

}  // namespace mayfly::cli
