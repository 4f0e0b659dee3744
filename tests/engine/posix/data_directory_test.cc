// Tests of data directories that use POSIX modes, links and pipes.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include "engine/storage/storage.h"
#include "engine/verify/directory_check.h"
#include "tests/support/temporary_directory.h"

namespace mayfly::testing {

using namespace engine;

namespace {

std::unique_ptr<Storage> open(StorageOptions options = {}) {
  auto opened = Storage::open(std::move(options));
  REQUIRE(opened);
  return *std::move(opened);
}

void put(Storage& storage, std::string_view key, std::string_view value) {
  Batch batch;
  batch.put(key, value);
  storage.write(batch);
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 0777;
}

std::string text_in(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    names.push_back(entry.path().filename());
  return names;
}

}  // namespace

TEST_CASE("a data directory and its files are accessible only to their owner no matter what the umask is",
          "[storage]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/data";
  const mode_t before = ::umask(GENERATE(0000, 0022, 0777));
  {
    auto storage = open({.directory = path});
    for (int i = 0; i < 40; ++i)
      put(*storage, "k" + std::to_string(i), std::string(1 << 20, 'x'));  // enough to write buffers to files
  }
  ::umask(before);
  CHECK(mode_of(path) == 0700);
  const auto names = names_in(path);
  CHECK(names.size() > 5);
  for (const std::string& name : names) {
    INFO(name);
    CHECK(mode_of(path + "/" + name) == 0600);
  }
}

TEST_CASE("opening a data directory that others can read makes it private", "[storage]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/data";
  put(*open({.directory = path}), "k", "v");
  REQUIRE(::chmod(path.c_str(), 0755) == 0);
  for (const std::string& name : names_in(path)) REQUIRE(::chmod((path + "/" + name).c_str(), 0644) == 0);
  auto storage = open({.directory = path});
  CHECK(mode_of(path) == 0700);
  for (const std::string& name : names_in(path)) {
    INFO(name);
    CHECK(mode_of(path + "/" + name) == 0600);
  }
}

TEST_CASE("links and pipes in a data directory give no access to files outside it", "[storage]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/data", elsewhere = directory.path() + "/elsewhere";
  put(*open({.directory = path}), "k", "v");
  std::ofstream(elsewhere) << "private";
  REQUIRE(::chmod(elsewhere.c_str(), 0644) == 0);
  const auto is_untouched = [&] { return mode_of(elsewhere) == 0644 && text_in(elsewhere) == "private"; };

  std::filesystem::create_symlink(elsewhere, path + "/000999.log.old");
  std::filesystem::create_hard_link(elsewhere, path + "/000998.log.old");
  open({.directory = path});
  CHECK(is_untouched());

  const std::string mark = text_in(path + "/MAYFLY");
  for (const std::string name : {"MAYFLY", "LOCK"}) {
    INFO(name);
    std::filesystem::remove(path + "/" + name);
    std::filesystem::create_symlink(elsewhere, path + "/" + name);
    CHECK_FALSE(Storage::open({.directory = path}));
    CHECK(is_untouched());
    std::filesystem::remove(path + "/" + name);
    std::filesystem::create_symlink(directory.path() + "/nothing", path + "/" + name);
    CHECK_FALSE(Storage::open({.directory = path}));
    CHECK_FALSE(std::filesystem::exists(directory.path() + "/nothing"));
    std::filesystem::remove(path + "/" + name);
    REQUIRE(::mkfifo((path + "/" + name).c_str(), 0600) == 0);
    CHECK_FALSE(Storage::open({.directory = path}));
    std::filesystem::remove(path + "/" + name);
    if (name == "MAYFLY") std::ofstream(path + "/MAYFLY") << mark;
  }
  CHECK(open({.directory = path}));
}

TEST_CASE("repair does not move damaged data to a pipe", "[verification]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/data", pipe = directory.path() + "/pipe";
  open({.directory = path});
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_FALSE(repair_directory(path, {.move_out_file = pipe}, {}));
}

}  // namespace mayfly::testing
