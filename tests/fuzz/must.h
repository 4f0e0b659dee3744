// What must be so of an input, whatever the build: says what was not, and ends the process, as fuzzers want
// it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace mayfly::testing {

// `shown` tells more of what was found.
inline void must(bool so, std::string_view what, std::string_view shown = {}) {
  if (so) return;
  const std::string text = "not so: " + std::string(what) + "\n" + std::string(shown) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::abort();
}

}  // namespace mayfly::testing
