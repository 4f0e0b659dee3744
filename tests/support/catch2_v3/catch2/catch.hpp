// Provides Catch2 3 under Catch2 2's header name and with the Catch2 2 names that the tests use. It is in the
// include path only if Catch2 3 is installed (tests/CMakeLists.txt).
#pragma once

#include <catch2/catch_all.hpp>
#include <string>

using Catch::Approx;

namespace Catch {
using Matchers::EndsWith;
using Matchers::StartsWith;
inline auto Contains(const std::string& part) { return Matchers::ContainsSubstring(part); }
}  // namespace Catch
