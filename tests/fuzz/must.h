// An assertion that is enabled in every build. If it fails, it prints what was violated and aborts, as
// fuzzers expect.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace mayfly::testing {

// Asserts `so`. `what` states the claim, and `shown` is additional text to print.
inline void must(bool so, std::string_view what, std::string_view shown = {}) {
  if (so) return;
  const std::string text = "violated: " + std::string(what) + "\n" + std::string(shown) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::abort();
}

}  // namespace mayfly::testing
