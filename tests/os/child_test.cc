// Tests os/child.h, and how a process ends (os/process.h). The tests with the tag [.child] are what a child
// does; other tests start them.
#include "os/child.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "os/file.h"
#include "os/path.h"
#include "os/process.h"
#include "os/terminal.h"
#include "tests/support/own_program.h"
#include "tests/support/temporary_directory.h"

namespace mayfly::testing {

using namespace std::chrono_literals;
using os::Child;

namespace {

std::string all_of(const os::File& file) {
  std::string text;
  char piece[4096];
  std::error_code error;
  while (const std::size_t got = file.read(piece, error)) text.append(piece, got);
  CHECK_FALSE(error);
  return text;
}

Child child(const std::string& test, const std::vector<std::string>& variables = {}) {
  return own_program({test}, variables);
}

}  // namespace

TEST_CASE("a child writes to both streams", "[.child]") {
  std::printf("to output\n");
  os::write_error("to errors\n");
  std::printf("terminals: %d %d\n", os::is_terminal_output(), os::is_terminal_error());
}
TEST_CASE("a child shows a variable", "[.child]") {
  std::printf("variable: %s\n", std::getenv("MAYFLY_TEST_VARIABLE"));
}
TEST_CASE("a child shows its name", "[.child]") {
  std::printf("name: %s\n", Catch::getCurrentContext().getConfig()->name().c_str());
}
TEST_CASE("a child reads its input", "[.child]") { std::printf("input: %d\n", std::getchar()); }
TEST_CASE("a child looks for its parent", "[.child]") {
  std::printf("parent has exited: %d\n", os::Parent().has_exited());
}
TEST_CASE("a child exits with status 7", "[.child]") {
  os::at_exit([] { std::printf("never printed\n"); });
  os::exit_now(7);
}
TEST_CASE("a child exits normally", "[.child]") {
  os::at_exit([] { std::printf("at exit\n"); });
}
TEST_CASE("a child sleeps", "[.child]") { std::this_thread::sleep_for(120s); }
TEST_CASE("a child shows its directory", "[.child]") {
  std::printf("directory: %s\n", os::text_of(std::filesystem::current_path()).c_str());
}
TEST_CASE("a child locks a file and sleeps", "[.child]") {
  std::error_code error;
  const os::File file =
      os::File::open(std::getenv("MAYFLY_TEST_VARIABLE"), {.make = os::Make::if_missing}, error);
  file.lock(os::Lock::exclusive, true, error);
  std::this_thread::sleep_for(120s);
}
TEST_CASE("a child ends after a second", "[.child]") {
  os::end_after(1s);
  std::this_thread::sleep_for(120s);
}
TEST_CASE("a child cancels its end", "[.child]") {
  os::end_after(1s);
  os::cancel_end();
  std::this_thread::sleep_for(1500ms);
}

TEST_CASE("a child's output and errors are read from separate pipes") {
  Child one = child("a child writes to both streams");
  const std::string output = all_of(one.output()), errors = all_of(one.errors());
  CHECK(output.find("to output") != output.npos);
  CHECK(output.find("to errors") == output.npos);
  CHECK(errors.find("to errors") != errors.npos);
  CHECK(one.wait() == 0);
}

TEST_CASE("a pipe cannot be flushed to a disk") {
  const Child one = child("a child writes to both streams");
  std::error_code error;
  one.output().sync(error);
  CHECK(error == std::errc::invalid_argument);
}

TEST_CASE("the streams of a child are not terminals") {
  Child one = child("a child writes to both streams");
  CHECK(all_of(one.output()).find("terminals: 0 0") != std::string::npos);
}

TEST_CASE("a child has the environment of its command") {
  Child one = child("a child shows a variable", {"MAYFLY_TEST_VARIABLE=a b=\"c\""});
  CHECK(all_of(one.output()).find("variable: a b=\"c\"") != std::string::npos);
}

TEST_CASE("arguments with spaces, quotation marks and backslashes reach a child unchanged") {
  for (const std::string name : {"a b", "a \"b\" c", "C:\\a\\", "\\\"", "a\\\\\"b c\\\\"}) {
    CAPTURE(name);
    Child one = own_program({"a child shows its name", "--name", name}, {});
    CHECK(all_of(one.output()).find("name: " + name) != std::string::npos);
  }
}

TEST_CASE("a child has no input") {
  Child one = child("a child reads its input");
  CHECK(all_of(one.output()).find("input: " + std::to_string(EOF)) != std::string::npos);
}

TEST_CASE("a process sees that its parent is running") {
  Child one = child("a child looks for its parent");
  CHECK(all_of(one.output()).find("parent has exited: 0") != std::string::npos);
}

TEST_CASE("each wait returns the exit status, and exit_now calls no exit handlers") {
  Child one = child("a child exits with status 7");
  CHECK(all_of(one.output()).find("never printed") == std::string::npos);
  CHECK(one.wait() == 7);
  CHECK(one.wait(0ms) == 7);
}

TEST_CASE("a process that exits normally calls its exit handlers") {
  Child one = child("a child exits normally");
  CHECK(all_of(one.output()).find("at exit") != std::string::npos);
  CHECK(one.wait() == 0);
}

TEST_CASE("a wait with a time limit ends although the child is still running, and kill ends the child") {
  Child one = child("a child sleeps");
  CHECK(one.wait(50ms) == std::nullopt);
  one.kill();
  CHECK(one.wait() == killed_status);
}

TEST_CASE("a child's errors can go to its output") {
  std::error_code error;
  Child one = Child::start({.command = own_command({"a child writes to both streams"}),
                            .environment = os::environment(),
                            .errors_to_output = true},
                           error);
  REQUIRE_FALSE(error);
  const std::string output = all_of(one.output());
  CHECK(output.find("to output") != output.npos);
  CHECK(output.find("to errors") != output.npos);
}

TEST_CASE("a child runs in the directory of its command") {
  const TemporaryDirectory directory;
  std::error_code error;
  Child one = Child::start({.command = own_command({"a child shows its directory"}),
                            .environment = os::environment(),
                            .directory = directory.path()},
                           error);
  REQUIRE_FALSE(error);
  CHECK(all_of(one.output()).find(os::text_of(os::path_of(directory.path()).filename())) !=
        std::string::npos);
  CHECK(one.wait() == 0);
}

TEST_CASE(
    "a child that ends with this process has its own status, and ends the programs that it has started") {
  const auto guarded = [](const std::string& test) {
    std::error_code error;
    Child one = Child::start(
        {.command = own_command({test}), .environment = os::environment(), .ends_with_this_process = true},
        error);
    REQUIRE_FALSE(error);
    return one;
  };
  Child exits = guarded("a child exits with status 7");
  CHECK(all_of(exits.output()).find("never printed") == std::string::npos);
  CHECK(exits.wait() == 7);
  Child sleeps = guarded("a child sleeps");
  CHECK(sleeps.wait(50ms) == std::nullopt);
  sleeps.kill();
  CHECK(sleeps.wait() == killed_status);
}

TEST_CASE("a program is found by its name in the directories of PATH") {
  const TemporaryDirectory directory;
  const std::string path = own_command({}).back();
  CHECK(os::program_path(path, "") == path);
  CHECK(os::program_path("no-such-program", directory.path()).empty());
  CHECK(os::program_path(directory.path() + "/program", directory.path()).empty());
  CHECK(os::program_path("", directory.path()).empty());
  const auto file = os::path_of(path);
  const std::string found = os::program_path(os::text_of(file.filename()), os::text_of(file.parent_path()));
  CHECK(std::filesystem::equivalent(os::path_of(found), file));
}

TEST_CASE("starting a program that does not exist fails") {
  const TemporaryDirectory directory;
  std::error_code error;
  (void)Child::start({{directory.path() + "/program"}, os::environment()}, error);
  CHECK(error == std::errc::no_such_file_or_directory);
}

TEST_CASE("a process ends itself after a time unless it cancels the end") {
  Child ends = child("a child ends after a second"), stays = child("a child cancels its end");
  const auto status = ends.wait(60s);
  REQUIRE(status);
  CHECK(*status != 0);
  CHECK(stays.wait() == 0);
}

}  // namespace mayfly::testing
