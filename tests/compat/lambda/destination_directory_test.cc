// Failed batches can be written only to regular files below one directory, and only at paths without links.
#include "compat/lambda/destination_directory.h"

#include <catch2/catch.hpp>

#include "compat/emulator.h"
#include "tests/compat/lambda/destination_place.h"
#include "tests/support/engine_world.h"
#include "tests/support/trigger_world.h"

namespace mayfly::testing {

namespace {

using compat::triggers::DestinationDirectory;
namespace fs = std::filesystem;
using Place = DestinationPlace;

}  // namespace

TEST_CASE("without a destination directory no file is written") {
  const auto directory = *DestinationDirectory::open("");
  CHECK(destination_problem(*directory, "file:///tmp/failed.jsonl") ==
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

TEST_CASE("a file cannot grow past the size limit") {
  const Place place(10);
  CHECK(place.directory->append(place.path + "/a", "12345"));
  CHECK_FALSE(place.directory->append(place.path + "/a", "12345"));
  CHECK(place.directory->append(place.path + "/a", "123"));
  CHECK(destination_text(place.path + "/a") == "12345\n123\n");
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
  TemporaryDirectory data;
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
