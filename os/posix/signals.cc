#include "os/signals.h"

#include <atomic>
#include <pthread.h>
#include <signal.h>
#include <system_error>
#include <thread>
#include <utility>

namespace mayfly::os {
namespace {

sigset_t end_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

}  // namespace

const char* name_of(EndSignal signal) { return signal == EndSignal::terminate ? "SIGTERM" : "SIGINT"; }

class EndSignalListener::State {
 public:
  explicit State(std::function<void(EndSignal)> arrived) : arrived_(std::move(arrived)) {
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    try {
      thread_ = std::thread([this] { listen(); });
    } catch (const std::system_error& failure) {
      pthread_sigmask(SIG_SETMASK, &before_, nullptr);
      throw std::system_error(failure.code(), "cannot start a thread");
    }
  }
  ~State() {
    over_ = true;
    pthread_kill(thread_.native_handle(), SIGTERM);  // makes thread_ end
    thread_.join();
    // Takes any further pending signal, which would otherwise end the process when the signals are unblocked.
    sigset_t pending;
    const auto has_more = [&] {
      return sigpending(&pending) == 0 &&
             (sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1);
    };
    for (int number = 0; has_more();) sigwait(&signals_, &number);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

 private:
  void listen() {
    for (int number = 0; sigwait(&signals_, &number) == 0 && !over_;)
      arrived_(number == SIGTERM ? EndSignal::terminate : EndSignal::interrupt);
  }

  const std::function<void(EndSignal)> arrived_;
  const sigset_t signals_ = end_signals();
  sigset_t before_{};
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

EndSignalListener::EndSignalListener(std::function<void(EndSignal)> arrived)
    : state_(std::make_unique<State>(std::move(arrived))) {}
EndSignalListener::~EndSignalListener() = default;

void EndSignalListener::end_by(EndSignal signal) {
  const sigset_t signals = end_signals();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  ::raise(signal == EndSignal::terminate ? SIGTERM : SIGINT);
}

struct SignalsBlocked::Before {
  sigset_t mask;
};

SignalsBlocked::SignalsBlocked() : before_(std::make_unique<Before>()) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before_->mask);
}
SignalsBlocked::~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_->mask, nullptr); }

}  // namespace mayfly::os
