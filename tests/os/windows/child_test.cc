// Tests which programs os::Child ends on Windows: those in the child's job.
#include "os/child.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <thread>

#include "tests/os/locked.h"
#include "tests/support/own_program.h"
#include "tests/support/temporary_directory.h"

namespace mayfly::testing {

TEST_CASE("a child starts another child", "[.child]") {
  const os::Child grandchild = own_program({"a child locks a file and sleeps"}, {});
  std::this_thread::sleep_for(std::chrono::seconds(120));
}

TEST_CASE("the destructor of a child ends the programs that the child has started") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/lock";
  {
    const os::Child one = own_program({"a child starts another child"}, {"MAYFLY_TEST_VARIABLE=" + path});
    REQUIRE(becomes_locked(path, true));
  }
  CHECK(becomes_locked(path, false));
}

}  // namespace mayfly::testing
