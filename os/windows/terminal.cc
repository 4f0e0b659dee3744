#include "os/terminal.h"

#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <io.h>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "os/windows/api.h"

namespace mayfly::os {
namespace {

HANDLE stream(DWORD which) { return ::GetStdHandle(which); }

bool is_console(DWORD which) {
  DWORD mode = 0;
  if (!::GetConsoleMode(stream(which), &mode)) return false;
  return ::SetConsoleMode(stream(which), mode | ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

File duplicate(DWORD which) {
  HANDLE copy = INVALID_HANDLE_VALUE;
  if (!::DuplicateHandle(::GetCurrentProcess(), stream(which), ::GetCurrentProcess(), &copy, 0, FALSE,
                         DUPLICATE_SAME_ACCESS))
    return File();
  return File(copy);
}

}  // namespace

void use_plain_line_ends() {
  for (std::FILE* const stream : {stdout, stderr}) ::_setmode(::_fileno(stream), _O_BINARY);
}

bool is_terminal_output() { return is_console(STD_OUTPUT_HANDLE); }
bool is_terminal_error() { return is_console(STD_ERROR_HANDLE); }

void write_error(std::string_view text) {
  DWORD written = 0;
  ::WriteFile(stream(STD_ERROR_HANDLE), text.data(), static_cast<DWORD>(text.size()), &written, nullptr);
}

File standard_input() { return duplicate(STD_INPUT_HANDLE); }
File standard_output() { return duplicate(STD_OUTPUT_HANDLE); }

File take_standard_output() {
  File out = standard_output();
  if (!out.is_open()) return out;
  std::fflush(stdout);
  ::_dup2(::_fileno(stderr), ::_fileno(stdout));
  ::SetStdHandle(STD_OUTPUT_HANDLE, stream(STD_ERROR_HANDLE));
  return out;
}

// Windows cannot wait for a pipe, so a thread reads it. The thread ends with the process, because a read of a
// console or a pipe cannot be canceled reliably.
std::size_t read_standard_input(std::span<char> to, const Event& end) {
  struct Reading {
    Event is_read;
    std::string text;
    std::size_t got = 0;
  };
  const auto reading = std::make_shared<Reading>();
  reading->text.resize(to.size());
  std::thread([reading] {
    DWORD got = 0;
    if (::ReadFile(stream(STD_INPUT_HANDLE), reading->text.data(), static_cast<DWORD>(reading->text.size()),
                   &got, nullptr))
      reading->got = got;
    reading->is_read.set();
  }).detach();
  HANDLE const waited[] = {end.native(), reading->is_read.native()};
  if (::WaitForMultipleObjects(2, waited, FALSE, INFINITE) == WAIT_OBJECT_0) return 0;
  std::copy_n(reading->text.begin(), reading->got, to.begin());
  return reading->got;
}

}  // namespace mayfly::os
