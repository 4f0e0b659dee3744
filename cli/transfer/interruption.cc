#include "cli/transfer/interruption.h"

#include <algorithm>
#include <csignal>
#include <thread>

namespace mayfly::transfer {
namespace {

volatile std::sig_atomic_t signalled = 0;

extern "C" void take_signal(int number) {
  signalled = 1;
  std::signal(number, SIG_DFL);
}

}  // namespace

Interruption::Interruption() {
  signalled = 0;
  std::signal(SIGINT, take_signal);
  std::signal(SIGTERM, take_signal);
  std::signal(SIGPIPE, SIG_IGN);
}

Interruption::~Interruption() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool Interruption::by_signal() const { return signalled != 0; }

bool Interruption::is_wanted() const { return wanted_ || by_signal(); }

bool Interruption::pause(std::chrono::milliseconds time) const {
  constexpr std::chrono::milliseconds slice{50};
  for (; time.count() > 0 && !is_wanted(); time -= slice) std::this_thread::sleep_for(std::min(time, slice));
  return !is_wanted();
}

}  // namespace mayfly::transfer
