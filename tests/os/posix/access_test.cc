// Tests which files and directories are accessible to their owner only. No test checks the access lists of
// Windows.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "os/directory.h"
#include "os/file.h"
#include "tests/support/temporary_directory.h"

namespace mayfly::testing {

namespace fs = std::filesystem;

namespace {

bool is_private(const fs::path& path) {
  const auto others = fs::perms::group_all | fs::perms::others_all;
  return (fs::status(path).permissions() & others) == fs::perms::none;
}

}  // namespace

TEST_CASE("a new file is accessible to its owner only unless the caller says otherwise") {
  using os::Access, os::File, os::Make;
  const TemporaryDirectory directory;
  std::error_code error;
  const std::string path = directory.path() + "/new";
  CHECK(File::open(path, {.access = Access::write, .make = Make::must_be_new}, error).is_open());
  CHECK(is_private(path));
  const std::string shared = directory.path() + "/shared";
  const File file =
      File::open(shared, {.access = Access::write, .make = Make::must_be_new, .is_private = false}, error);
  CHECK_FALSE(error);
  fs::permissions(shared, fs::perms::all);
  file.restrict_to_owner(error);
  CHECK_FALSE(error);
  CHECK(is_private(shared));
}

TEST_CASE("a new directory is accessible to its owner only") {
  const TemporaryDirectory directory;
  std::error_code error;
  os::make_directory(directory.path() + "/made", error);
  CHECK_FALSE(error);
  CHECK(is_private(directory.path() + "/made"));
  const os::Directory root = os::Directory::open(directory.path(), error);
  CHECK(os::open_parent(root, {"a", "b", "c"}, true, error).is_open());
  CHECK(is_private(directory.path() + "/a"));
  CHECK(is_private(directory.path() + "/a/b"));
}

}  // namespace mayfly::testing
