#include "cli/base/output.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "cli/base/fail.h"
#include "http/base/log.h"

namespace mayfly::cli {
namespace {

int write_error = 0;  // errno of the first write to standard output that failed

void note_error(bool failed) {
  if (failed && write_error == 0) write_error = errno;
}

}  // namespace

void print(std::string_view text) {
  if (write_error == 0) note_error(std::fwrite(text.data(), 1, text.size(), stdout) != text.size());
}

std::string printable_lines(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines += http::log::printable(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool reader_left() {
  if (write_error == 0) note_error(std::fflush(stdout) != 0);
  return write_error != 0;
}

int printed(int exit_code) {
  if (!reader_left() || write_error == EPIPE) return exit_code;
  return fail(std::string("cannot write to standard output: ") + std::strerror(write_error));
}

}  // namespace mayfly::cli
