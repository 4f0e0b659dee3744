#include "engine/storage.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "tests/support/engine_world.h"

using namespace mayfly::engine;
using mayfly::engine::test::Directory;

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

std::vector<std::string> keys(const Storage& storage, std::string_view lower, std::string_view upper,
                              const Storage::Snapshot* snapshot = nullptr) {
  std::vector<std::string> found;
  Storage::Iterator iterator(storage, lower, upper, snapshot);
  for (iterator.seek_to_first(); iterator.valid(); iterator.next()) found.emplace_back(iterator.key());
  return found;
}

}  // namespace

TEST_CASE("a batch is read again as it was written, and joined to another", "[storage]") {
  Batch batch, other;
  batch.put("k", std::string("\0v", 2));
  other.erase("gone");
  other.erase_range("a", "b");
  batch.append(other);
  std::vector<std::string> seen;
  batch.for_each([&](Batch::Kind kind, std::string_view first, std::string_view second) {
    seen.push_back(std::to_string(static_cast<int>(kind)) + std::string(first) + "|" + std::string(second));
  });
  CHECK(seen == std::vector<std::string>{std::string("0k|\0v", 5), "1gone|", "2a|b"});
}

TEST_CASE("an iterator walks its bounds both ways, on its snapshot", "[storage]") {
  auto storage = open();
  for (const char* key : {"a", "b1", "b2", "b3", "c"}) put(*storage, key, "");
  const Storage::Snapshot snapshot(*storage);
  put(*storage, "b4", "");

  CHECK(keys(*storage, "b", "c") == std::vector<std::string>{"b1", "b2", "b3", "b4"});
  CHECK(keys(*storage, "b", "c", &snapshot) == std::vector<std::string>{"b1", "b2", "b3"});
  std::string value;
  CHECK(storage->get("b4", value));
  CHECK_FALSE(storage->get("b4", value, &snapshot));

  Storage::Iterator iterator(*storage, "b", "c", &snapshot);
  iterator.seek_to_last();
  REQUIRE(iterator.valid());
  CHECK(iterator.key() == "b3");
  iterator.prev();
  CHECK(iterator.key() == "b2");
  iterator.seek("b25");
  CHECK(iterator.key() == "b3");
}

TEST_CASE("a range is erased whole, few keys or many", "[storage]") {
  auto storage = open();
  const int count = GENERATE(10, 5000);
  for (int i = 0; i < count; ++i) put(*storage, "k" + std::to_string(i), "");
  put(*storage, "j", "");
  put(*storage, "l", "");
  Batch batch;
  storage->erase_range(batch, "k", "l");
  storage->write(batch);
  CHECK(keys(*storage, "a", "z") == std::vector<std::string>{"j", "l"});
}

TEST_CASE("what was written to a directory is there when it is opened again", "[storage]") {
  const Directory directory;
  put(*open({.directory = directory.path() + "/new/sub"}), "k", "v");
  std::string value;
  CHECK(open({.directory = directory.path() + "/new/sub"})->get("k", value));
  CHECK(value == "v");
}

TEST_CASE("a directory in use is refused with a sentence", "[storage]") {
  const Directory directory;
  auto first = open({.directory = directory.path()});
  auto second = Storage::open({.directory = directory.path()});
  REQUIRE_FALSE(second);
  CHECK(second.error() == "the data directory " + directory.path() + " is in use by another process");
}

TEST_CASE("a directory that cannot be made is refused with a sentence", "[storage]") {
  auto opened = Storage::open({.directory = "/dev/null/data"});
  REQUIRE_FALSE(opened);
  CHECK(opened.error() == "cannot create the data directory /dev/null/data: Not a directory");
}

TEST_CASE("a write that fails leaves no trace and throws", "[storage]") {
  bool fails = true;
  auto storage = open({.write_fails = [&] { return fails; }});
  CHECK_THROWS_AS(put(*storage, "k", "v"), StorageFault);
  std::string value;
  CHECK_FALSE(storage->get("k", value));
  fails = false;
  put(*storage, "k", "v");
  CHECK(storage->get("k", value));
}
