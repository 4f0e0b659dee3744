// Tests a journal whose path is a link or a pipe, or changes while it is read.
#include "cli/transfer/journal.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <sys/stat.h>
#include <thread>

#include "tests/support/temporary_directory.h"

namespace mayfly::testing {

namespace {

std::string read_whole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_whole(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

}  // namespace

TEST_CASE("a journal must be a regular file and links are not followed") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/journal", elsewhere = directory.path() + "/elsewhere";
  const json::Tree asked = {{"to", "x"}};
  const auto refused_by_all = [&](const std::string& reason) {
    for (const std::string& sentence :
         {transfer::Journal::in_the_way(path), transfer::Journal::resume(path, asked).error(),
          transfer::Journal::begin(path, {asked, {}}).error()}) {
      CAPTURE(sentence);
      CHECK(sentence.find(reason) != std::string::npos);
    }
  };
  std::filesystem::create_symlink(elsewhere, path);
  refused_by_all("is a link");  // a dangling link
  CHECK_FALSE(std::filesystem::exists(elsewhere));
  write_whole(elsewhere, "private");
  refused_by_all("is a link");
  CHECK(read_whole(elsewhere) == "private");
  std::filesystem::remove(path);
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  refused_by_all("is not a regular file");
  for (const char* text : {"", R"({"mayfly_transfer":1,"ask)"}) {
    std::filesystem::remove(path);
    write_whole(path, text);
    refused_by_all("ends within its first line");
    CHECK(read_whole(path) == text);
  }
  std::filesystem::remove(path);
  CHECK(transfer::Journal::begin(path, {asked, {}}));
  CHECK(std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 2);
}

#if defined(RENAME_EXCHANGE)
TEST_CASE("a file that swaps names with a journal while the journal is being read is never truncated") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/journal", other = directory.path() + "/other";
  const json::Tree asked = {{"to", "x"}};
  REQUIRE(transfer::Journal::begin(path, {asked, json::Tree::object()}));
  const std::string text = std::string(10'000, 'x') + "\n";
  write_whole(other, text);
  const std::size_t journal_bytes = read_whole(path).size();
  std::atomic<bool> ended = false;
  std::thread exchanges([&] {
    while (!ended) ::renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
  });
  for (int round = 0; round < 2000; ++round) static_cast<void>(transfer::Journal::resume(path, asked));
  ended = true;
  exchanges.join();
  const std::set<std::size_t> sizes = {read_whole(path).size(), read_whole(other).size()};
  CHECK(sizes == std::set<std::size_t>{journal_bytes, text.size()});
}
#endif

}  // namespace mayfly::testing
