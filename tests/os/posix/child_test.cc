// Tests which programs os::Child ends on POSIX: those in the child's process group.
#include "os/child.h"

#include <catch2/catch.hpp>
#include <string>

#include "os/process.h"
#include "tests/os/locked.h"
#include "tests/support/own_program.h"
#include "tests/support/temporary_directory.h"

namespace mayfly::testing {

TEST_CASE("the destructor of a child ends the programs that the child has started", "[posix]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/lock";
  {
    os::Command shell{{"/bin/sh", "-c", R"("$@" & wait)", "sh"}, os::environment()};
    for (const std::string& argument : own_command({"a child locks a file and sleeps"}))
      shell.command.push_back(argument);
    shell.environment.push_back("MAYFLY_TEST_VARIABLE=" + path);
    std::error_code error;
    const os::Child one = os::Child::start(shell, error);
    REQUIRE_FALSE(error);
    REQUIRE(becomes_locked(path, true));
  }
  CHECK(becomes_locked(path, false));
}

}  // namespace mayfly::testing
