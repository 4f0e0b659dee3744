// Starts this test program again, for tests whose process is killed.
//
//   os::Child child = own_program({"a process writes until it is killed"}, {"MAYFLY_TEST_VICTIM=" + path});
#pragma once

#include <string>
#include <vector>

#include "os/child.h"

namespace mayfly::testing {

// The status of a child that was killed (os::Child::wait).
inline constexpr int killed_status = 137;

// The path of this program, and `arguments`. MAYFLY_TEST_EMULATOR names the emulator if the program is for
// another processor.
std::vector<std::string> own_command(const std::vector<std::string>& arguments);

// Starts own_command() with `variables` added to the environment.
os::Child own_program(const std::vector<std::string>& arguments, const std::vector<std::string>& variables);

// Calls `line` with each complete line that the child writes to standard error, without its newline, until
// the child ends. A child that was killed may have written a part of a line, which is ignored.
template <class Line>
void each_line_of(os::Child& child, Line line) {
  std::string text;
  char piece[4096];
  std::error_code error;
  while (const std::size_t got = child.errors().read(piece, error)) {
    text.append(piece, got);
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != text.npos; begin = end + 1)
      line(text.substr(begin, end - begin));
    text.erase(0, begin);
  }
}

}  // namespace mayfly::testing
