// The files that tests need. A program that was built on another machine finds them through variables.
#pragma once

#include <cstdlib>
#include <string>

namespace mayfly::testing {

// The path in `variable`, or `built` if the variable is not set.
inline std::string place(const char* variable, const char* built) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? built : value;
}

}  // namespace mayfly::testing
