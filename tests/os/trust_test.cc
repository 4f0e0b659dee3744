#include "os/trust.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "os/path.h"

namespace mayfly::testing {

TEST_CASE("the trusted issuers of this system are a file or certificates in DER form") {
  const os::TrustedIssuers issuers = os::trusted_issuers();
  CHECK(issuers.file.empty() != issuers.certificates.empty());
  if (!issuers.file.empty()) CHECK(std::filesystem::is_regular_file(os::path_of(issuers.file)));
  // DER begins with a sequence.
  CHECK(std::ranges::all_of(issuers.certificates, [](const std::string& der) { return der[0] == 0x30; }));
}

}  // namespace mayfly::testing
