// Tests os/directory.h: no name and no change of the directory leads out of it.
#include "os/directory.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/support/temporary_directory.h"

namespace mayfly::testing {

using os::Access;
using os::Directory;
using os::Make;
using std::errc;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& path, std::string_view text) { std::ofstream(path) << text; }

std::string text_of(const os::File& file) {
  std::error_code error;
  std::string text(1000, '\0');
  text.resize(file.read_at(0, text, error));
  return text;
}

}  // namespace

TEST_CASE("a regular file is opened by the parts of its path and missing directories are made on request") {
  const TemporaryDirectory temporary;
  std::error_code error;
  const Directory directory = Directory::open(temporary.path(), error);
  REQUIRE_FALSE(error);
  CHECK_FALSE(os::open_regular(directory, {"a", "b", "c"}, error).file.is_open());
  CHECK(error == errc::no_such_file_or_directory);
  const Directory parent = os::open_parent(directory, {"a", "b", "c"}, true, error);
  REQUIRE_FALSE(error);
  parent.open_file("c", {.access = Access::write, .make = Make::must_be_new}, error).write("text", error);
  CHECK_FALSE(error);
  {
    const auto opened = os::open_regular(directory, {"a", "b", "c"}, error);
    CHECK_FALSE(error);
    CHECK(text_of(opened.file) == "text");
    CHECK(opened.facts.bytes == 4);
  }
  CHECK_FALSE(os::open_regular(directory, {"a", "b"}, error).file.is_open());
  CHECK(error == errc::is_a_directory);
  parent.rename("c", "d", error);
  CHECK_FALSE(error);
  CHECK(parent.facts_of("d", error).kind == os::Kind::file);
  parent.remove("d", error);
  CHECK_FALSE(error);
  (void)parent.facts_of("d", error);
  CHECK(error == errc::no_such_file_or_directory);
}

TEST_CASE("the directory itself may be a link but no part of a path below it may be, and links are listed") {
  const TemporaryDirectory temporary, outside;
  write(outside.path() + "/secret", "secret");
  fs::create_directory_symlink(temporary.path(), outside.path() + "/way");
  fs::create_directory_symlink(outside.path(), temporary.path() + "/out");
  fs::create_symlink(outside.path() + "/secret", temporary.path() + "/link");
  std::error_code error;
  const Directory directory = Directory::open(outside.path() + "/way", error);
  REQUIRE_FALSE(error);
  const auto is_refused = [&] {
    return error == errc::too_many_symbolic_link_levels || error == errc::not_a_directory;
  };
  CHECK_FALSE(os::open_regular(directory, {"link"}, error).file.is_open());
  CHECK(is_refused());
  CHECK_FALSE(os::open_regular(directory, {"out", "secret"}, error).file.is_open());
  CHECK(is_refused());
  CHECK_FALSE(os::open_parent(directory, {"out", "new"}, true, error).is_open());
  CHECK(is_refused());
  CHECK_FALSE(
      directory.open_file("link", {.access = Access::append, .follows_links = true}, error).is_open());
  CHECK(is_refused());
  const auto entries = directory.entries(error);
  CHECK(entries.size() == 2);
  CHECK(std::ranges::all_of(entries, [](const os::Entry& entry) { return entry.kind == os::Kind::link; }));
}

TEST_CASE("files and directories are listed with their kinds") {
  const TemporaryDirectory temporary;
  write(temporary.path() + "/file", "text");
  fs::create_directory(temporary.path() + "/below");
  std::error_code error;
  const Directory directory = Directory::open(temporary.path(), error);
  auto entries = directory.entries(error);
  CHECK_FALSE(error);
  std::ranges::sort(entries, {}, &os::Entry::name);
  REQUIRE(entries.size() == 2);
  CHECK((entries[0].name == "below" && entries[0].kind == os::Kind::directory));
  CHECK((entries[1].name == "file" && entries[1].kind == os::Kind::file));
  CHECK_FALSE(Directory::open(temporary.path() + "/file", error).is_open());
  CHECK(error == errc::not_a_directory);
}

TEST_CASE("empty parts, dots and zero bytes name no directory entry") {
  for (const std::string_view part :
       {std::string_view(""), std::string_view("."), std::string_view(".."), std::string_view("a\0b", 3)})
    CHECK(os::names_nothing(part));
  for (const std::string_view part : {"a", "..a", ".a", "a b", "ä"}) CHECK_FALSE(os::names_nothing(part));
}

// Another process swaps a directory of the path with a link to a directory outside, as fast as it can.
TEST_CASE("a directory that becomes a link while a file is opened does not lead out of the root") {
  const TemporaryDirectory temporary, outside;
  const std::string below = temporary.path() + "/below", aside = temporary.path() + "/aside",
                    link = temporary.path() + "/link";
  fs::create_directory(below);
  write(below + "/file", "inside");
  write(outside.path() + "/file", "outside");
  fs::create_directory_symlink(outside.path(), link);
  std::atomic<bool> over = false;
  std::thread swaps([&] {
    std::error_code ignored;
    while (!over) {
      fs::rename(below, aside, ignored);
      fs::rename(link, below, ignored);
      fs::rename(below, link, ignored);
      fs::rename(aside, below, ignored);
    }
  });
  std::error_code error;
  const Directory directory = Directory::open(temporary.path(), error);
  int opened = 0;
  bool has_left = false;
  for (int i = 0; i < 20'000; ++i) {
    const auto file = os::open_regular(directory, {"below", "file"}, error).file;
    if (error) continue;
    ++opened;
    has_left = has_left || text_of(file) != "inside";
  }
  over = true;
  swaps.join();
  CHECK_FALSE(has_left);
  CHECK(opened > 0);
}

}  // namespace mayfly::testing
