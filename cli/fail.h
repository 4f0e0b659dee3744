// How a command ends that cannot do what it was asked for.
#pragma once

#include <cstdio>
#include <string>

namespace mayfly::http {

// The sentence on stderr; returns the exit code.
inline int fail(const std::string& sentence) {
  std::fprintf(stderr, "mayfly: %s\n", sentence.c_str());
  return 1;
}

}  // namespace mayfly::http
