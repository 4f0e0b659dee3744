#include "os/process.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

namespace mayfly::testing {

TEST_CASE("a process and its host have an identity") {
  CHECK(os::process_id() > 0);
  CHECK(os::process_id() == os::process_id());
  CHECK_FALSE(os::host_name().empty());
}

TEST_CASE("the environment lists variables with their values") {
  const auto variables = os::environment();
  CHECK(std::ranges::any_of(variables, [](const std::string& one) { return one.starts_with("PATH="); }));
  CHECK(std::ranges::all_of(variables, [](const std::string& one) { return one.find('=') != one.npos; }));
}

TEST_CASE("raising the limit of open files does not lower it") {
  const auto before = os::open_files_max();
  os::raise_open_files_max();
  CHECK(os::open_files_max() >= before);
}

}  // namespace mayfly::testing
