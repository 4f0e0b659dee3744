#include "os/event.h"

#include <algorithm>

#include "os/windows/api.h"

namespace mayfly::os {

Event::Event() : waits_(::CreateEventW(nullptr, TRUE, FALSE, nullptr)) {
  if (waits_.native() != nullptr) return;
  (void)waits_.release();
  throw std::system_error(windows::last_error(), "CreateEvent");
}

void Event::set() { ::SetEvent(waits_.native()); }

bool Event::wait(std::optional<std::chrono::milliseconds> time) const {
  const DWORD time_ms =
      time ? static_cast<DWORD>(std::clamp<std::int64_t>(time->count(), 0, INFINITE - 1)) : INFINITE;
  return ::WaitForSingleObject(waits_.native(), time_ms) == WAIT_OBJECT_0;
}

}  // namespace mayfly::os
