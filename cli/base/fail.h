// Prints the error messages of commands.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "http/base/log.h"

namespace mayfly::cli {

// Prints the sentence on stderr, on one line. Control characters are escaped, because the sentence may repeat
// text from an endpoint or a file. Returns the exit code.
inline int fail(const std::string& sentence) {
  std::fprintf(stderr, "mayfly: %s\n", http::log::printable(sentence).c_str());
  return 1;
}

// Quotes text that a user typed or that a server returned, for use in messages.
inline std::string in_quotes(std::string_view text) { return "'" + http::log::printable(text) + "'"; }

}  // namespace mayfly::cli
