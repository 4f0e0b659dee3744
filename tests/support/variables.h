// Changes environment variables of the test program. Windows has no setenv().
#pragma once

#include <cstdlib>
#include <string>

namespace mayfly::testing {

inline void set_variable(const std::string& name, const std::string& value) {
#if defined(_WIN32)
  ::_putenv_s(name.c_str(), value.c_str());
#else
  ::setenv(name.c_str(), value.c_str(), 1);
#endif
}

inline void unset_variable(const std::string& name) {
#if defined(_WIN32)
  ::_putenv_s(name.c_str(), "");
#else
  ::unsetenv(name.c_str());
#endif
}

}  // namespace mayfly::testing
