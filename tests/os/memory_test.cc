#include "os/memory.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

namespace mayfly::testing {

TEST_CASE("the process's resident memory grows with the memory that it touches") {
  constexpr std::size_t mb = 1 << 20;
  const std::uint64_t before = os::resident_memory_bytes();
  CHECK(before > 0);
  const std::vector<char> touched(64 * mb, 'x');
  CHECK(os::resident_memory_bytes() >= before + 60 * mb);
  CHECK(touched.back() == 'x');
}

}  // namespace mayfly::testing
