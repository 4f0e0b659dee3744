#include "engine/storage/write_ahead_log.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "engine/storage/storage.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

namespace fs = std::filesystem;

void put_one(Storage& storage, const std::string& key, const std::string& value) {
  Batch batch;
  batch.put(key, value);
  storage.write(batch);
}

// The directory's only log that is not empty.
fs::path log_of(const std::string& directory) {
  fs::path log;
  for (const auto& file : fs::directory_iterator(directory))
    if (file.path().extension() == ".log" && file.file_size() > 0) log = file.path();
  REQUIRE(!log.empty());
  return log;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::string value_of(std::size_t i, std::size_t bytes) {
  return std::string(bytes, static_cast<char>('a' + i % 26));
}

// Writes the values, closes the storage, and returns the log that contains them.
fs::path write_log(const std::string& directory, std::size_t values, std::size_t value_bytes) {
  auto storage = Storage::open({.directory = directory});
  REQUIRE(storage);
  for (std::size_t i = 0; i < values; ++i)
    put_one(**storage, "k" + std::to_string(i), value_of(i, value_bytes));
  return log_of(directory);
}

using Result = LogCheck::Result;

}  // namespace

TEST_CASE("a log that is cut off anywhere is reported as torn or whole but never as damaged",
          "[wal][holds]") {
  const TemporaryDirectory directory;
  const std::string log = read_file(write_log(directory.path(), 12, 60));
  REQUIRE(check_log(log, true).result == Result::whole);
  std::size_t whole = 0;
  for (std::size_t length = 0; length < log.size(); ++length) {
    INFO("cut after " << length << " bytes of " << log.size());
    const Result result = check_log(std::string_view(log).substr(0, length), true).result;
    REQUIRE(result != Result::damaged);
    whole += result == Result::whole;
  }
  CHECK(whole == 12);  // the log was cut between two records
}

TEST_CASE("a log with a changed byte or a cut-off log that another log follows is reported as damaged",
          "[wal][holds]") {
  const TemporaryDirectory directory;
  std::string log = read_file(write_log(directory.path(), 12, 60));
  for (std::size_t at = 0; at < log.size(); ++at) {
    for (const char flip : {'\x01', '\x40', '\x80'}) {
      log[at] ^= flip;
      INFO("byte " << at << " of " << log.size());
      REQUIRE(check_log(log, true).result == Result::damaged);
      log[at] ^= flip;
    }
  }
  CHECK(check_log(std::string_view(log).substr(0, log.size() - 1), false).result == Result::damaged);
}

TEST_CASE("torn and damaged logs are also distinguished if records span blocks", "[wal][holds]") {
  const TemporaryDirectory directory;
  std::string log = read_file(write_log(directory.path(), 5, 70'000));
  REQUIRE(log.size() > 10 * 32768);
  REQUIRE(check_log(log, true).result == Result::whole);
  for (std::size_t at = 0; at < log.size(); at += 1009) {
    INFO("byte " << at << " of " << log.size());
    log[at] ^= '\x10';
    REQUIRE(check_log(log, true).result == Result::damaged);
    log[at] ^= '\x10';
    REQUIRE(check_log(std::string_view(log).substr(0, at), true).result != Result::damaged);
  }
}

TEST_CASE("an unwritten sector counts as a torn tail in the last record but as damage in an earlier record",
          "[wal][holds]") {
  const TemporaryDirectory directory;
  std::string log = read_file(write_log(directory.path(), 5, 3000));
  const auto without_sector = [&](std::size_t sector) {
    std::string copy = log;
    copy.replace(sector * 512, std::min<std::size_t>(512, log.size() - sector * 512), 512, '\0');
    copy.resize(log.size());
    return copy;
  };
  const std::size_t sectors = (log.size() + 511) / 512;
  CHECK(check_log(without_sector(sectors - 1), true).result == Result::torn);
  CHECK(check_log(without_sector(sectors - 3), true).result == Result::torn);
  CHECK(check_log(without_sector(2), true).result == Result::damaged);
}

TEST_CASE("a directory with a changed log is rejected and a directory with a cut-off log is opened",
          "[wal][holds]") {
  constexpr std::size_t values = 12, value_bytes = 60;
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/data";
  const fs::path log = write_log(path, values, value_bytes);
  const std::string bytes = read_file(log);
  const std::string kept = directory.path() + "/kept";
  fs::copy(path, kept);
  const auto begin_again = [&] {
    fs::remove_all(path);
    fs::copy(kept, path);
  };
  const std::size_t step = GENERATE(37, 41);

  for (std::size_t at = 0; at < bytes.size(); at += step) {
    INFO("byte " << at << " changed");
    std::string changed = bytes;
    changed[at] ^= '\x20';
    begin_again();
    write_file(log, changed);
    const auto opened = Storage::open({.directory = path});
    REQUIRE_FALSE(opened);
    REQUIRE(opened.error().starts_with("the data directory " + path + " is damaged: the log " + log.string() +
                                       " is damaged at byte "));
    REQUIRE(opened.error().ends_with(". It was not opened, because acknowledged writes would be missing."));
    REQUIRE(read_file(log) == changed);  // opening the directory did not change the log
  }

  for (std::size_t length = 0; length <= bytes.size(); length += step) {
    INFO("cut after " << length << " bytes");
    begin_again();
    write_file(log, bytes.substr(0, length));
    std::size_t found = 0;
    {
      const auto opened = Storage::open({.directory = path});
      REQUIRE(opened);
      std::string value;
      while (found < values && (*opened)->get("k" + std::to_string(found), value)) {
        REQUIRE(value == value_of(found, value_bytes));
        ++found;
      }
      REQUIRE(found >= length * values / bytes.size());  // all complete records were found
      for (std::size_t i = found; i < values; ++i)
        REQUIRE_FALSE((*opened)->get("k" + std::to_string(i), value));
      put_one(**opened, "after", "x");
    }
    const auto again = Storage::open({.directory = path});
    REQUIRE(again);
    std::string value;
    REQUIRE((*again)->get("after", value));
  }
}

}  // namespace mayfly::testing
