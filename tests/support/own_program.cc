#include "tests/support/own_program.h"

#include <array>
#include <cstdlib>
#include <stdexcept>

#include "os/process.h"

#if defined(_WIN32)
extern "C" __declspec(dllimport) unsigned long __stdcall GetModuleFileNameA(void*, char*, unsigned long);
#elif defined(__APPLE__)
#include <mach-o/dyld.h>
#else
#include <unistd.h>
#endif

namespace mayfly::testing {

namespace {

std::string own_path() {
  std::array<char, 4096> path{};
#if defined(_WIN32)
  const bool is_known = ::GetModuleFileNameA(nullptr, path.data(), path.size() - 1) > 0;
#elif defined(__APPLE__)
  std::uint32_t size = path.size();
  const bool is_known = ::_NSGetExecutablePath(path.data(), &size) == 0;
#else
  const bool is_known = ::readlink("/proc/self/exe", path.data(), path.size() - 1) > 0;
#endif
  if (!is_known) throw std::runtime_error("the path of this program is unknown");
  return path.data();
}

}  // namespace

std::vector<std::string> own_command(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{own_path()};
  if (const char* emulator = std::getenv("MAYFLY_TEST_EMULATOR")) command.insert(command.begin(), emulator);
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

os::Child own_program(const std::vector<std::string>& arguments, const std::vector<std::string>& variables) {
  os::Command command{own_command(arguments), os::environment()};
  // The first variable of a name counts.
  command.environment.insert(command.environment.begin(), variables.begin(), variables.end());
  std::error_code error;
  os::Child child = os::Child::start(command, error);
  if (error) throw std::system_error(error, command.command.front());
  return child;
}

}  // namespace mayfly::testing
