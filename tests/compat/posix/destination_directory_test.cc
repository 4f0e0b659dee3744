// Tests file destinations with POSIX modes, links and pipes.
#include "compat/lambda/destination_directory.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/compat/lambda/destination_place.h"

namespace mayfly::testing {

namespace {

namespace fs = std::filesystem;

}  // namespace

TEST_CASE("a batch is appended as a line to a file that only its owner can access") {
  const DestinationPlace place;
  const mode_t before = ::umask(0);
  CHECK(destination_problem(*place.directory, "file://" + place.path + "/a.jsonl") == "");
  CHECK_FALSE(fs::exists(place.path + "/a.jsonl"));
  CHECK(place.directory->append("file://" + place.path + "/a.jsonl", R"({"n":1})"));
  CHECK(place.directory->append(place.path + "/a.jsonl", R"({"n":2})"));
  CHECK(place.directory->append(place.path + "/below/b.jsonl", "{}"));
  ::umask(before);
  CHECK(destination_text(place.path + "/a.jsonl") == "{\"n\":1}\n{\"n\":2}\n");
  CHECK(destination_text(place.path + "/below/b.jsonl") == "{}\n");
  CHECK((fs::status(place.path + "/a.jsonl").permissions() & fs::perms::all) ==
        (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(destination_problem(*place.directory, place.path + "/a.jsonl") == "");
}

TEST_CASE("links are not followed in any part of a path", "[holds]") {
  const DestinationPlace place;
  std::ofstream(place.around.path() + "/outside") << "as it was";
  fs::create_directory(place.around.path() + "/elsewhere");
  fs::create_symlink(place.around.path() + "/outside", place.path + "/link");
  fs::create_symlink(place.around.path() + "/nothing", place.path + "/dangling");
  fs::create_directory_symlink(place.around.path() + "/elsewhere", place.path + "/way");
  fs::create_directory_symlink(place.path + "/below", place.path + "/inside");
  fs::create_hard_link(place.around.path() + "/outside", place.path + "/second-name");
  fs::create_directory_symlink("/proc/self", place.path + "/self");
  place.refuses(place.path + "/link", no_regular_file);
  place.refuses(place.path + "/dangling", no_regular_file);
  place.refuses(place.path + "/second-name", no_regular_file);
  place.refuses(place.path + "/way/x", no_directory);
  place.refuses(place.path + "/inside/x", no_directory);
  place.refuses(place.path + "/self/mem", no_directory);
  place.refuses(place.path + "/missing/x", no_directory);
  CHECK(destination_text(place.around.path() + "/outside") == "as it was");
  CHECK_FALSE(fs::exists(place.around.path() + "/nothing"));
  CHECK(fs::is_empty(place.around.path() + "/elsewhere"));
}

TEST_CASE("a file that is not a regular file is rejected without blocking") {
  const DestinationPlace place;
  REQUIRE(::mkfifo((place.path + "/fifo").c_str(), 0600) == 0);
  place.refuses(place.path + "/fifo", no_regular_file);  // no process reads it
  const int reader = ::open((place.path + "/fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  place.refuses(place.path + "/fifo", no_regular_file);
  char byte = 0;
  CHECK(::read(reader, &byte, 1) == 0);
  ::close(reader);
  place.refuses(place.path + "/below", no_regular_file);
}

}  // namespace mayfly::testing
