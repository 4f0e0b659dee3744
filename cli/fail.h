// Messages of commands that fail.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "http/log.h"

namespace mayfly::http {

// Prints the sentence on stderr, on one line, with control characters escaped: it may repeat what an endpoint
// or a file said. Returns the exit code.
inline int fail(const std::string& sentence) {
  std::fprintf(stderr, "mayfly: %s\n", log::printable(sentence).c_str());
  return 1;
}

// For messages: what was typed, or a name that a server returned.
inline std::string in_quotes(std::string_view text) { return "'" + log::printable(text) + "'"; }

}  // namespace mayfly::http
