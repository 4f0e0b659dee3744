// Tests os/file.h: how files are opened, and what happens when links, pipes or other processes are in the
// way.
#include "os/file.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temporary_directory.h"

namespace mayfly::testing {

using os::Access;
using os::File;
using os::Make;
using std::errc;
namespace fs = std::filesystem;

namespace {

File written(const std::string& path, std::string_view text) {
  std::error_code error;
  File file = File::open(path, {.access = Access::write, .make = Make::must_be_new}, error);
  REQUIRE_FALSE(error);
  file.write(text, error);
  REQUIRE_FALSE(error);
  return file;
}

std::string contents_of(const std::string& path) {
  std::error_code error;
  const File file = File::open(path, {}, error);
  REQUIRE_FALSE(error);
  std::string text(1000, '\0');
  text.resize(file.read_at(0, text, error));
  REQUIRE_FALSE(error);
  return text;
}

}  // namespace

TEST_CASE("a file that must be new is not opened if it exists and an appending file keeps its contents") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  (void)written(path, "one\n");
  std::error_code error;
  CHECK_FALSE(File::open(path, {.access = Access::write, .make = Make::must_be_new}, error).is_open());
  CHECK(error == errc::file_exists);
  CHECK_FALSE(File::open(path + "2", {}, error).is_open());
  CHECK(error == errc::no_such_file_or_directory);
  File::open(path, {.access = Access::append}, error).write("two\n", error);
  CHECK_FALSE(error);
  CHECK(contents_of(path) == "one\ntwo\n");
}

TEST_CASE("reading continues from the file's position and read_at does not move it") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  (void)written(path, "0123456789");
  std::error_code error;
  const File file = File::open(path, {}, error);
  std::string piece(4, '\0');
  CHECK(file.read(piece, error) == 4);
  CHECK(piece == "0123");
  std::string at(20, '\0');
  CHECK(file.read_at(7, at, error) == 3);
  CHECK(at.substr(0, 3) == "789");
  CHECK(file.read_at(10, at, error) == 0);
  CHECK(file.read(piece, error) == 4);
  CHECK(piece == "4567");
  file.rewind(error);
  CHECK(file.read(piece, error) == 4);
  CHECK(piece == "0123");
  CHECK_FALSE(error);
  const auto facts = file.facts(error);
  CHECK(facts.bytes == 10);
  CHECK(facts.is_only_here());
}

TEST_CASE("the version of a file differs after a write and after a replacement") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  std::error_code error;
  File file = written(path, "one");
  const auto before = file.facts(error).version;
  file.write("two", error);
  const auto longer = file.facts(error).version;
  CHECK(longer != before);
  file.close(error);
  (void)written(path + "2", "onetwo");
  os::rename(path + "2", path, error);
  CHECK_FALSE(error);
  CHECK(os::facts_of(path, false, error).version != longer);
}

TEST_CASE("a renamed file replaces the file that had the name") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  (void)written(path, "old");
  (void)written(path + "2", "new");
  std::error_code error;
  os::rename(path + "2", path, error);
  CHECK_FALSE(error);
  CHECK(contents_of(path) == "new");
  CHECK_FALSE(fs::exists(path + "2"));
  os::rename(path + "2", path, error);
  CHECK(error == errc::no_such_file_or_directory);
}

TEST_CASE("a file that is open can be replaced and removed, and its name is free at once") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  const File old = written(path, "old");
  (void)written(path + "2", "new");
  std::error_code error;
  os::rename(path + "2", path, error);
  CHECK_FALSE(error);
  std::string text(3, '\0');
  CHECK(File::open(path, {}, error).read(text, error) == 3);
  CHECK(text == "new");
  const File now = File::open(path, {}, error);
  os::remove(path, error);
  CHECK_FALSE(error);
  (void)os::facts_of(path, false, error);
  CHECK(error == errc::no_such_file_or_directory);
  CHECK(written(path, "again").is_open());
}

TEST_CASE("a file is truncated even if it was opened to append, and later writes are at its new end") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  (void)written(path, "0123456789");
  std::error_code error;
  const File file = File::open(path, {.access = Access::append}, error);
  file.truncate(4, error);
  CHECK_FALSE(error);
  file.write("!", error);
  CHECK_FALSE(error);
  CHECK(contents_of(path) == "0123!");
}

TEST_CASE("a file can be flushed to the disk and closed") {
  const TemporaryDirectory directory;
  std::error_code error;
  File file = written(directory.path() + "/file", "text");
  file.sync(error);
  CHECK_FALSE(error);
  file.close(error);
  CHECK_FALSE(error);
  CHECK_FALSE(file.is_open());
}

TEST_CASE("a file that was opened to read rejects writes, and one that was opened to write rejects reads") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  std::error_code error;
  std::string text(3, '\0');
  CHECK(written(path, "abc").read(text, error) == 0);
  CHECK(error);
  File::open(path, {}, error).write("x", error);
  CHECK(error);
  CHECK(contents_of(path) == "abc");
}

TEST_CASE("the facts of a directory and of a path without a file are known") {
  const TemporaryDirectory directory;
  std::error_code error;
  CHECK(os::facts_of(directory.path(), false, error).kind == os::Kind::directory);
  CHECK_FALSE(error);
  (void)os::facts_of(directory.path() + "/none", false, error);
  CHECK(error == errc::no_such_file_or_directory);
}

TEST_CASE("a link is followed only on request") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/file", link = directory.path() + "/link";
  (void)written(path, "text");
  fs::create_symlink(path, link);
  std::error_code error;
  CHECK_FALSE(File::open(link, {}, error).is_open());
  CHECK(error == errc::too_many_symbolic_link_levels);
  CHECK_FALSE(File::open(link, {.access = Access::write, .make = Make::if_missing}, error).is_open());
  CHECK(error == errc::too_many_symbolic_link_levels);
  CHECK(File::open(link, {.follows_links = true}, error).is_open());
  CHECK_FALSE(error);
  CHECK(os::facts_of(link, false, error).kind == os::Kind::link);
  CHECK(os::facts_of(link, true, error).kind == os::Kind::file);
}

TEST_CASE("a file with a second name is not only here") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  std::error_code error;
  const File file = written(path, "text");
  CHECK(file.facts(error).is_only_here());
  fs::create_hard_link(path, path + "2");
  CHECK_FALSE(file.facts(error).is_only_here());
  CHECK_FALSE(os::Facts().is_only_here());
}

TEST_CASE("an exclusive lock excludes other locks until its file is closed") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  (void)written(path, "text");
  std::error_code error;
  File first = File::open(path, {}, error);
  const File second = File::open(path, {}, error);
  first.lock(os::Lock::exclusive, false, error);
  CHECK_FALSE(error);
  second.lock(os::Lock::shared, false, error);
  CHECK(error == errc::resource_unavailable_try_again);
  first.close(error);
  CHECK_FALSE(first.is_open());
  second.lock(os::Lock::shared, false, error);
  CHECK_FALSE(error);
  const File third = File::open(path, {}, error);
  third.lock(os::Lock::shared, false, error);
  CHECK_FALSE(error);
  third.lock(os::Lock::exclusive, false, error);
  CHECK(error == errc::resource_unavailable_try_again);
}

TEST_CASE("of several threads that move files to the same new name one succeeds") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  constexpr int threads_count = 8;
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> moved = 0, refused = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < threads_count; ++i) (void)written(path + std::to_string(i), std::to_string(i));
    for (int i = 0; i < threads_count; ++i)
      threads.emplace_back([&, i] {
        std::error_code error;
        os::rename_to_new(path + std::to_string(i), path, error);
        if (!error) ++moved;
        if (error == errc::file_exists) ++refused;
      });
    for (auto& thread : threads) thread.join();
    CHECK(moved == 1);
    CHECK(refused == threads_count - 1);
    CHECK(contents_of(path).size() == 1);
    for (const auto& entry : fs::directory_iterator(directory.path())) fs::remove(entry);
  }
}

TEST_CASE("creating a directory again is not an error") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/made";
  std::error_code error;
  os::make_directory(path, error);
  CHECK_FALSE(error);
  os::make_directory(path, error);
  CHECK_FALSE(error);
  os::make_directory(path + "/a/b", error);
  CHECK(error == errc::no_such_file_or_directory);
  os::remove(path + "/a", error);
  CHECK(error == errc::no_such_file_or_directory);
}

TEST_CASE("a directory is not opened for writing and not removed like a file") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/made";
  std::error_code error;
  os::make_directory(path, error);
  for (const Access access : {Access::write, Access::append, Access::read_and_append}) {
    CHECK_FALSE(File::open(path, {.access = access, .make = Make::if_missing}, error).is_open());
    CHECK(error == errc::is_a_directory);
  }
  os::remove(path, error);
  CHECK(error);
  CHECK(fs::is_directory(path));
}

}  // namespace mayfly::testing
