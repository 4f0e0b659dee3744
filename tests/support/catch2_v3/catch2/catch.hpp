// Catch2 3's header under the name that Catch2 2 has, with the names that tests use of it. It is in the
// include path only where Catch2 3 is installed (tests/CMakeLists.txt).
#pragma once

#include <catch2/catch_all.hpp>
#include <string>

using Catch::Approx;

namespace Catch {
using Matchers::EndsWith;
using Matchers::StartsWith;
inline auto Contains(const std::string& part) { return Matchers::ContainsSubstring(part); }
}  // namespace Catch
