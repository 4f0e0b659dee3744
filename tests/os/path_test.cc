#include "os/path.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "os/file.h"
#include "tests/support/temporary_directory.h"

namespace mayfly::testing {

namespace fs = std::filesystem;

TEST_CASE("a path becomes the same text again") {
  for (const std::string text : {"", "a", "a/b", "wörter und 日本", "a b/c"})
    CHECK(os::text_of(os::path_of(text)) == text);
}

TEST_CASE("std::filesystem, streams and os/file.h mean the same file, whose name can be long and not ASCII") {
  const TemporaryDirectory directory;
  std::string path = directory.path();
  for (int depth = 0; depth < 6; ++depth) path += "/a directory whose name has about fifty characters, ä";
  std::error_code error;
  fs::create_directories(os::path_of(path), error);
  REQUIRE_FALSE(error);
  path += "/größe";
  std::ofstream(os::path_of(path)) << "text";
  const os::File file = os::File::open(path, {}, error);
  REQUIRE_FALSE(error);
  CHECK(file.facts(error).bytes == 4);
  CHECK(fs::is_regular_file(os::path_of(path), error));
  const fs::directory_iterator entry(os::path_of(path).parent_path());
  CHECK(os::text_of(entry->path().filename()) == "größe");
}

}  // namespace mayfly::testing
