#include "engine/base/check.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "engine/base/thread_local.h"
#include "os/terminal.h"

namespace mayfly::engine {
namespace {

struct Installed {
  CheckHandler handler = nullptr;
  void* context = nullptr;
};

// The mutex is also held while the handler runs, so that only one check is reported if two fail at
// the same time.
std::mutex& installing() {
  static std::mutex mutex;
  return mutex;
}
Installed installed;

THREAD_LOCAL bool is_failing = false;

// Does not use `stderr`, because libmayfly.so is linked from the same object files and cannot refer to that
// variable (engine/base/thread_local.h).
void print(const FailedCheck& failed) {
  std::array<char, 1024> line;
  const int length = std::snprintf(line.data(), line.size(),
                                   "mayfly: internal check failed, please report this bug: %s (%s:%d)\n",
                                   failed.expression, failed.file, failed.line);
  const std::size_t printed = std::min(static_cast<std::size_t>(std::max(length, 0)), line.size() - 1);
  os::write_error({line.data(), printed});
}

}  // namespace

void set_check_handler(CheckHandler handler, void* context) {
  const std::lock_guard lock(installing());
  installed = {handler, context};
}

void check_failed(const char* expression, const char* file, int line) noexcept {
  const FailedCheck failed{expression, file, line};
  if (is_failing) {  // the check failed in the handler itself
    print(failed);
    std::abort();
  }
  is_failing = true;
  const std::lock_guard lock(installing());
  installed.handler != nullptr ? installed.handler(failed, installed.context) : print(failed);
  std::abort();
}

}  // namespace mayfly::engine
