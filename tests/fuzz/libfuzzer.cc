// libFuzzer's entry point, for the target that MAYFLY_FUZZ_TARGET names.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/targets.h"

namespace mayfly::testing {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  MAYFLY_FUZZ_TARGET(std::string_view(reinterpret_cast<const char*>(bytes), count));
  return 0;
}

}  // namespace mayfly::testing
