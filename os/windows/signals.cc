#include "os/signals.h"

#include <mutex>
#include <utility>

#include "os/windows/api.h"

namespace mayfly::os {
namespace {

// Windows calls a console handler on a separate thread.
std::mutex& listening() {
  static std::mutex mutex;
  return mutex;
}
const std::function<void(EndSignal)>* listener = nullptr;

BOOL WINAPI handle(DWORD event) {
  {
    const std::lock_guard lock(listening());
    if (listener == nullptr) return FALSE;
    (*listener)(event == CTRL_C_EVENT ? EndSignal::interrupt : EndSignal::terminate);
  }
  // After the other events, Windows ends the process as soon as this function returns, or after some seconds.
  // The process uses this time to end cleanly.
  if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) ::Sleep(INFINITE);
  return TRUE;
}

}  // namespace

const char* name_of(EndSignal signal) { return signal == EndSignal::terminate ? "SIGTERM" : "SIGINT"; }

class EndSignalListener::State {
 public:
  explicit State(std::function<void(EndSignal)> arrived) : arrived_(std::move(arrived)) {
    const std::lock_guard lock(listening());
    before_ = std::exchange(listener, &arrived_);
    // The handler is never removed, because Windows can hold a lock for as long as the handler runs.
    [[maybe_unused]] static const BOOL is_set = ::SetConsoleCtrlHandler(&handle, TRUE);
  }
  ~State() {
    const std::lock_guard lock(listening());
    listener = before_;
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

 private:
  const std::function<void(EndSignal)> arrived_;
  const std::function<void(EndSignal)>* before_ = nullptr;
};

EndSignalListener::EndSignalListener(std::function<void(EndSignal)> arrived)
    : state_(std::make_unique<State>(std::move(arrived))) {}
EndSignalListener::~EndSignalListener() = default;

void EndSignalListener::end_by(EndSignal signal) {
  constexpr UINT interrupted_status = 0xC000013A, terminated_status = 143;
  ::TerminateProcess(::GetCurrentProcess(),
                     signal == EndSignal::interrupt ? interrupted_status : terminated_status);
}

// Windows delivers console events on a separate thread.
struct SignalsBlocked::Before {};
SignalsBlocked::SignalsBlocked() = default;
SignalsBlocked::~SignalsBlocked() = default;

}  // namespace mayfly::os
