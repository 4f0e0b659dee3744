// Failed batches can be written only to regular files below one directory, and only at paths without links.
#include "compat/lambda/destination_directory.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include "compat/emulator.h"
#include "tests/support/engine_world.h"
#include "tests/support/trigger_world.h"

namespace mayfly::testing {

namespace {

using compat::triggers::DestinationDirectory;
namespace fs = std::filesystem;

std::string text_of(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Returns "" if the destination is allowed, otherwise the reason why it is not.
std::string problem(const DestinationDirectory& directory, const std::string& destination) {
  const auto checked = directory.check(destination);
  return checked ? "" : checked.error();
}

const std::string no_regular_file = "The existing file is not a regular file or has other hard links";
const std::string no_directory = "The file's directory does not exist or is reached through a link";

// The directory "failed" is the only directory for destinations. Everything else is outside of it.
struct Place {
  Directory around;
  std::string path = around.path() + "/failed";
  std::unique_ptr<DestinationDirectory> directory;

  explicit Place(std::int64_t file_bytes_max = DestinationDirectory::file_bytes_max_default) {
    fs::create_directories(path + "/below");
    directory = *DestinationDirectory::open(path, file_bytes_max);
  }
  // The destination is rejected both when a mapping is created and when a batch is written.
  void refuses(const std::string& destination, const std::string& why) const {
    INFO(destination);
    CHECK(problem(*directory, destination) == why);
    CHECK_FALSE(directory->append(destination, "{}"));
  }
};

}  // namespace

TEST_CASE("a batch is appended as a line to a file that only its owner can access") {
  const Place place;
  const mode_t before = ::umask(0);
  CHECK(problem(*place.directory, "file://" + place.path + "/a.jsonl") == "");
  CHECK_FALSE(fs::exists(place.path + "/a.jsonl"));
  CHECK(place.directory->append("file://" + place.path + "/a.jsonl", R"({"n":1})"));
  CHECK(place.directory->append(place.path + "/a.jsonl", R"({"n":2})"));
  CHECK(place.directory->append(place.path + "/below/b.jsonl", "{}"));
  ::umask(before);
  CHECK(text_of(place.path + "/a.jsonl") == "{\"n\":1}\n{\"n\":2}\n");
  CHECK(text_of(place.path + "/below/b.jsonl") == "{}\n");
  CHECK((fs::status(place.path + "/a.jsonl").permissions() & fs::perms::all) ==
        (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(problem(*place.directory, place.path + "/a.jsonl") == "");
}

TEST_CASE("without a destination directory no file is written") {
  const auto directory = *DestinationDirectory::open("");
  CHECK(problem(*directory, "file:///tmp/failed.jsonl") ==
        "File destinations are available only with --destination-dir");
  CHECK_FALSE(directory->append("file:///tmp/mayfly-must-not-be-there.jsonl", "{}"));
  CHECK_FALSE(fs::exists("/tmp/mayfly-must-not-be-there.jsonl"));
}

TEST_CASE("opening a missing destination directory fails with a readable message") {
  CHECK(DestinationDirectory::open("/no/such/place").error() ==
        "cannot open the destination directory /no/such/place: No such file or directory");
}

TEST_CASE("paths to files outside the directory are rejected however they are spelled") {
  const Place place;
  const std::string elsewhere = "The file must be below " + place.path + "/ (--destination-dir)";
  for (const std::string& path :
       {std::string("/etc/passwd"), std::string("/proc/self/mem"), place.around.path() + "/x",
        place.path + "-too/x", place.path, std::string("/")}) {
    place.refuses(path, elsewhere);
    place.refuses("file://" + path, elsewhere);
  }
  CHECK(fs::is_empty(place.path + "/below"));
}

TEST_CASE("paths with .. or empty parts or a zero byte are rejected") {
  const Place place;
  const std::string why =
      "The path below " + place.path + "/ must not have NUL bytes or parts that are empty, . or ..";
  for (const std::string& name : {std::string("../x"), std::string("below/../x"), std::string("below/.."),
                                  std::string("."), std::string(""), std::string("/x"),
                                  std::string("below//x"), std::string("below/"), std::string("x\0y", 3)}) {
    place.refuses(place.path + "/" + name, why);
  }
  CHECK_FALSE(fs::exists(place.around.path() + "/x"));
  CHECK_FALSE(fs::exists(place.path + "/x"));
}

TEST_CASE("links are not followed in any part of a path", "[holds]") {
  const Place place;
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
  CHECK(text_of(place.around.path() + "/outside") == "as it was");
  CHECK_FALSE(fs::exists(place.around.path() + "/nothing"));
  CHECK(fs::is_empty(place.around.path() + "/elsewhere"));
}

TEST_CASE("a file that is not a regular file is rejected without blocking") {
  const Place place;
  REQUIRE(::mkfifo((place.path + "/fifo").c_str(), 0600) == 0);
  place.refuses(place.path + "/fifo", no_regular_file);  // no process reads it
  const int reader = ::open((place.path + "/fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  place.refuses(place.path + "/fifo", no_regular_file);
  char byte = 0;
  CHECK(::read(reader, &byte, 1) == 0);
  ::close(reader);
  place.refuses(place.path + "/below", no_regular_file);
}

TEST_CASE("a file cannot grow past the size limit") {
  const Place place(10);
  CHECK(place.directory->append(place.path + "/a", "12345"));
  CHECK_FALSE(place.directory->append(place.path + "/a", "12345"));
  CHECK(place.directory->append(place.path + "/a", "123"));
  CHECK(text_of(place.path + "/a") == "12345\n123\n");
}

TEST_CASE("an invalid file destination is rejected when a mapping is created or changed") {
  const Place place;
  const std::string mappings = "/2015-03-31/event-source-mappings";
  const auto with = [](const std::string& arn, const std::string& destination) {
    return R"({"EventSourceArn":")" + arn + R"(","FunctionName":"f","StartingPosition":"LATEST",)" +
           R"("DestinationConfig":{"OnFailure":{"Destination":")" + destination + R"("}}})";
  };
  const auto refused = [](const std::string& sentence) {
    return R"(400 x-amzn-ErrorType: InvalidParameterValueException {"Type":"User","message":"Invalid destination. )" +
           sentence + R"(."})";
  };
  const std::string none = "File destinations are available only with --destination-dir";
  const std::string other = "The file must be below " + place.path + "/ (--destination-dir)";
  {
    TriggerWorld world;
    CHECK(world.rest("POST " + mappings, with(world.create_table("carts"), place.path + "/x")) ==
          refused(none));
    CHECK(world.rest("GET " + mappings) == R"(200 {"EventSourceMappings":[]})");
  }
  TriggerWorld world({}, place.path);
  const std::string arn = world.create_table("carts");
  CHECK(world.rest("POST " + mappings, with(arn, "file:///etc/passwd")) == refused(other));
  const std::string uuid = world.map(arn, "f");
  CHECK(world.rest("PUT " + mappings + "/" + uuid,
                   R"({"DestinationConfig":{"OnFailure":{"Destination":"/proc/self/mem"}}})") ==
        refused(other));
  CHECK(
      world.rest("PUT " + mappings + "/" + uuid,
                 R"({"DestinationConfig":{"OnFailure":{"Destination":")" + place.path + R"(/x\u0000"}}})") ==
      refused("The path below " + place.path + "/ must not have NUL bytes or parts that are empty, . or .."));
  CHECK(world
            .rest("PUT " + mappings + "/" + uuid,
                  R"({"DestinationConfig":{"OnFailure":{"Destination":")" + place.path + R"(/x"}}})")
            .starts_with("202 "));
}

TEST_CASE("a mapping whose file destination is no longer allowed is kept and reports the problem") {
  const Place place;
  Directory data;
  std::string uuid;
  {
    TriggerWorld world(data.path(), place.path);
    world.function("f", [](const nlohmann::json&) { return TriggerWorld::Answer{.status = 500}; });
    uuid = world.map(world.create_table("carts"), "f",
                     R"("MaximumRetryAttempts":0,
        "DestinationConfig":{"OnFailure":{"Destination":")" +
                         place.path + R"(/x"}})");
  }
  TriggerWorld world(data.path());
  world.endpoint("f", [](const nlohmann::json&) { return TriggerWorld::Answer{.status = 500}; });
  world.put("carts", "a");
  CHECK(world.settle().empty());
  CHECK(world.mapping(uuid)["LastProcessingResult"] ==
        "PROBLEM: The destination " + place.path + "/x did not accept a failed batch");
  CHECK_FALSE(fs::exists(place.path + "/x"));
}

}  // namespace mayfly::testing
