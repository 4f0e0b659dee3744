#include "engine/storage/storage.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <mutex>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/storage/key_space.h"
#include "engine/storage/storage_files.h"
#include "engine/storage/storage_jobs.h"
#include "engine/time/expiry_index.h"
#include "engine/values/key_codec.h"
#include "os/memory.h"
#include "tests/support/engine_world.h"

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

std::vector<std::string> keys(const Storage& storage, std::string_view lower, std::string_view upper,
                              const Storage::Snapshot* snapshot = nullptr) {
  std::vector<std::string> found;
  Storage::Iterator iterator(storage, lower, upper, snapshot);
  for (iterator.seek_to_first(); iterator.valid(); iterator.next()) found.emplace_back(iterator.key());
  return found;
}

// Waits until `state` returns true. Returns false after 30 seconds.
bool comes_to_pass(const std::function<bool()>& state) {
  for (int i = 0; i < 3000; ++i) {
    if (state()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

bool writes(Storage& storage, std::string_view key) {
  try {
    put(storage, key, "v");
    return true;
  } catch (const StorageFault&) {
    return false;
  }
}

std::string text_in(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

constexpr int keys_erased = 5000;

std::string numbered(const std::string& prefix, std::uint64_t number) {
  return prefix + std::to_string(1'000'000 + number);
}

// Writes and erases `keys_erased` keys with the prefix.
void put_and_erase(Storage& storage, const std::string& prefix) {
  for (int i = 0; i < keys_erased; ++i) put(storage, numbered(prefix, i), "x");
  for (int i = 0; i < keys_erased; ++i) {
    Batch batch;
    batch.erase(numbered(prefix, i), 1);
    storage.write(batch);
  }
}

// Runs, keeps or forgets RocksDB's flushes, as the test requests.
class FlushingEnv final : public rocksdb::EnvWrapper {
 public:
  enum class Flushes : std::uint8_t {
    run,
    kept,       // until run_kept()
    forgotten,  // like a flush that is requested after an error: RocksDB queues the flush but never runs it
  };
  FlushingEnv() : EnvWrapper(rocksdb::Env::Default()) {}

  void Schedule(void (*run)(void*), void* argument, Priority priority, void* tag,
                void (*unscheduled)(void*)) override {
    const std::lock_guard lock(mutex_);
    if (priority != Priority::HIGH || flushes_ == Flushes::run)
      return target()->Schedule(run, argument, priority, tag, unscheduled);
    caught_ = true;
    if (flushes_ == Flushes::forgotten) return unscheduled(argument);
    kept_.emplace_back([this, run, argument, priority, tag, unscheduled] {
      target()->Schedule(run, argument, priority, tag, unscheduled);
    });
  }
  void set(Flushes flushes) {
    const std::lock_guard lock(mutex_);
    flushes_ = flushes;
  }
  void run_kept() {
    const std::lock_guard lock(mutex_);
    flushes_ = Flushes::run;
    for (const auto& run : std::exchange(kept_, {})) run();
  }
  // Returns whether a flush was kept or forgotten.
  [[nodiscard]] bool caught() const { return caught_; }

 private:
  std::mutex mutex_;
  Flushes flushes_ = Flushes::run;
  std::vector<std::function<void()>> kept_;
  std::atomic<bool> caught_{false};
};

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    names.push_back(entry.path().filename().string());
  return names;
}

}  // namespace

TEST_CASE("a batch's operations can be read back and a batch can be appended to another batch", "[storage]") {
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

TEST_CASE("an iterator walks between its bounds in both directions as of its snapshot", "[storage]") {
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

TEST_CASE("erasing a range erases all of its keys whether it has few keys or many", "[storage]") {
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

TEST_CASE("erasing a range of change records keeps all other records and records written later",
          "[storage]") {
  auto storage = open();
  const auto written = [](Sequence sequence) { return sequence % 3 != 0; };
  const auto write_those = [&](const auto& of) {
    for (Sequence sequence = 1; sequence <= 9000; ++sequence)
      if (of(sequence)) put(*storage, record_key(7, sequence % 2, sequence), "");
  };
  write_those(written);
  Batch batch;
  for (const ShardNumber shard : {0, 1})
    batch.erase_range(record_key(7, shard, 500 + shard), record_key(7, shard, 8000 + shard));
  storage->write(batch);
  write_those([&](Sequence sequence) { return !written(sequence); });

  for (const ShardNumber shard : {0, 1}) {
    std::vector<std::string> left;
    for (Sequence sequence = shard == 0 ? 2 : 1; sequence <= 9000; sequence += 2)
      if (sequence < 500 + shard || sequence >= 8000 + shard || !written(sequence))
        left.push_back(record_key(7, shard, sequence));
    CHECK(keys(*storage, shard_prefix(7, shard), prefix_end(shard_prefix(7, shard))) == left);
  }
}

TEST_CASE("erasing a range that begins with an expiry entry fails", "[storage]") {
  auto storage = open();
  const ExpiryIndex index(3'600'000);
  Batch batch;
  batch.erase_range(index.entry_key(1, 5, "k"), "Y");
  CHECK_THROWS_AS(storage->write(batch), StorageFault);
}

TEST_CASE("data in a directory survives closing and reopening the storage", "[storage]") {
  const TemporaryDirectory directory;
  put(*open({.directory = directory.path() + "/new/sub"}), "k", "v");
  std::string value;
  CHECK(open({.directory = directory.path() + "/new/sub"})->get("k", value));
  CHECK(value == "v");
}

TEST_CASE("storage rejects a directory in use with a readable error", "[storage]") {
  const TemporaryDirectory directory;
  auto first = open({.directory = directory.path()});
  auto second = Storage::open({.directory = directory.path()});
  REQUIRE_FALSE(second);
  CHECK(second.error() == "the data directory " + directory.path() + " is in use by another process");
}

TEST_CASE("a directory that cannot be created is rejected with a readable error", "[storage]") {
  const TemporaryDirectory directory;
  const std::string file = directory.path() + "/file";
  std::ofstream(file) << "text";
  auto opened = Storage::open({.directory = file + "/data"});
  REQUIRE_FALSE(opened);
  CHECK(opened.error() == "cannot create the data directory " + file + "/data: Not a directory");
}

TEST_CASE("a write that fails throws and changes nothing", "[storage]") {
  bool fails = true;
  auto storage = open({.write_fails = [&] { return fails; }});
  CHECK_THROWS_AS(put(*storage, "k", "v"), StorageFault);
  std::string value;
  CHECK_FALSE(storage->get("k", value));
  fails = false;
  put(*storage, "k", "v");
  CHECK(storage->get("k", value));
}

TEST_CASE("a directory with files that Mayfly did not create is rejected and left unchanged", "[storage]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/home";
  std::filesystem::create_directory(path);
  std::ofstream(path + "/letter.txt") << "dear";
  std::filesystem::permissions(path, std::filesystem::perms(0755));
  const auto before = std::filesystem::status(path).permissions();
  const auto opened = Storage::open({.directory = path});
  REQUIRE_FALSE(opened);
  CHECK(opened.error() == "the data directory " + path +
                              " is not empty and was not created by Mayfly; use an empty or a new directory");
  CHECK(names_in(path) == std::vector<std::string>{"letter.txt"});
  CHECK(std::filesystem::status(path).permissions() == before);
  // The directory lost+found, which the file system creates, does not count.
  std::filesystem::remove(path + "/letter.txt");
  std::filesystem::create_directory(path + "/lost+found");
  CHECK(Storage::open({.directory = path}));
}

TEST_CASE("a database without the file MAYFLY is opened only if its keys are Mayfly's", "[storage]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/data";
  const bool ours = GENERATE(true, false);
  put(*open({.directory = path}), ours ? "Mnext-ids" : "somebody's", "v");
  REQUIRE(std::filesystem::remove(path + "/MAYFLY"));
  const auto opened = Storage::open({.directory = path});
  CHECK(opened.has_value() == ours);
  CHECK(std::filesystem::exists(path + "/MAYFLY") == ours);
  if (!ours) CHECK(opened.error().find("was not created by Mayfly") != std::string::npos);
}

TEST_CASE("a directory with an unknown format is rejected", "[storage]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/data";
  put(*open({.directory = path}), "k", "v");
  std::ofstream(path + "/MAYFLY", std::ios::binary) << "Mayfly's data, format 5\n";
  const auto opened = Storage::open({.directory = path});
  REQUIRE_FALSE(opened);
  CHECK(opened.error() ==
        "the data directory " + path +
            " was written by another version of Mayfly, in a format that this version does not know");
}

TEST_CASE("opening a directory with an earlier format converts it to the current one", "[storage]") {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/data";
  {
    const auto storage = open({.directory = path});
    put(*storage, "k", "v");
    std::ofstream(path + "/MAYFLY", std::ios::binary) << "Mayfly's data, format 1\n";
    CHECK_FALSE(Storage::open({.directory = path}));  // in use, perhaps by a version with that format
    CHECK(text_in(path + "/MAYFLY") == "Mayfly's data, format 1\n");
  }
  std::string value;
  CHECK(open({.directory = path})->get("k", value));
  CHECK(value == "v");
  CHECK(text_in(path + "/MAYFLY") == "Mayfly's data, format 4\n");
}

TEST_CASE("writes resume after any file operation fails and no acknowledged write is lost",
          "[storage][holds]") {
  const TemporaryDirectory directory;
  int failing = 0, rounds = 0;
  for (bool failed = true; failed; failing += 13, ++rounds) {
    INFO("operation " << failing << " on files fails");
    const std::string path = directory.path() + "/" + std::to_string(failing);
    std::atomic<int> operations{-1'000'000};  // opening the storage does not count
    std::vector<std::string> acknowledged;
    {
      auto storage =
          open({.directory = path, .file_fails = [&](std::string_view) { return operations++ == failing; }});
      operations = 0;
      for (int i = 0; i < 24; ++i) {
        const std::string key = "k" + std::to_string(i);
        try {
          put(*storage, key, std::string(1 << 20, 'x'));  // enough to write buffers of 16 MB to files
          acknowledged.push_back(key);
        } catch (const StorageFault&) {}
      }
      REQUIRE(comes_to_pass([&] { return writes(*storage, "after"); }));
      CHECK(comes_to_pass([&] { return storage->failure().empty(); }));
      failed = operations > failing;
    }
    auto storage = open({.directory = path});
    std::string value;
    for (const std::string& key : acknowledged) {
      INFO(key);
      REQUIRE(storage->get(key, value));
    }
    REQUIRE(storage->get("after", value));
    storage.reset();
    std::filesystem::remove_all(path);
  }
  CHECK(rounds > 3);
}

TEST_CASE("while storage recovers from an error writes fail immediately and reads succeed",
          "[storage][holds]") {
  const TemporaryDirectory directory;
  std::atomic<bool> full{false}, stands_still{false}, reached{false};
  std::promise<void> goes_on;
  auto storage = open({.directory = directory.path() + "/data",
                       .file_fails = [&, gone_on = goes_on.get_future().share()](std::string_view path) {
                         if (stands_still && path.ends_with(".sst")) {
                           reached = true;
                           gone_on.wait();
                         }
                         return full.load();
                       }});
  put(*storage, "k", "v");
  full = true;
  CHECK_THROWS_AS(put(*storage, "refused", "v"), StorageFault);
  stands_still = true;
  full = false;
  CHECK(comes_to_pass([&] { return reached.load(); }));

  std::atomic<bool> refused{false}, read{false};
  std::thread client([&] {
    std::string value;
    read = storage->get("k", value) && keys(*storage, "k", "l").size() == 1;
    refused = !writes(*storage, "refused");
  });
  CHECK(comes_to_pass([&] { return refused && read; }));
  CHECK_FALSE(storage->failure().empty());
  goes_on.set_value();
  client.join();
  CHECK(comes_to_pass([&] { return writes(*storage, "after"); }));
}

TEST_CASE("a flush that begins after an error is not lost", "[storage][holds]") {
  const TemporaryDirectory directory;
  FlushingEnv env;
  std::atomic<bool> full{false};
  auto storage =
      open({.directory = directory.path() + "/data", .env = &env, .file_fails = [&](std::string_view) {
              return full.load();
            }});
  env.set(FlushingEnv::Flushes::kept);
  int buffers = 0;
  for (; !env.caught(); ++buffers) {
    REQUIRE(buffers < 30);
    put(*storage, "k" + std::to_string(buffers), std::string(1 << 20, 'x'));
  }
  full = true;
  CHECK_THROWS_AS(put(*storage, "refused", "v"), StorageFault);
  env.run_kept();
  full = false;
  CHECK(comes_to_pass([&] { return writes(*storage, "after"); }));
  CHECK(comes_to_pass([&] { return storage->failure().empty(); }));
  storage.reset();
  storage = open({.directory = directory.path() + "/data"});
  CHECK(keys(*storage, "k", "l").size() == static_cast<std::size_t>(buffers));
}

TEST_CASE("storage that cannot recover serves reads and rejects writes and can be closed",
          "[storage][holds]") {
  const TemporaryDirectory directory;
  FlushingEnv env;
  std::atomic<bool> full{false};
  auto storage =
      open({.directory = directory.path() + "/data", .env = &env, .file_fails = [&](std::string_view) {
              return full.load();
            }});
  put(*storage, "k", "v");
  full = true;
  CHECK_THROWS_AS(put(*storage, "refused", "v"), StorageFault);
  env.set(FlushingEnv::Flushes::forgotten);
  full = false;
  REQUIRE(comes_to_pass([&] { return env.caught(); }));
  std::string value;
  CHECK(storage->get("k", value));
  CHECK_THROWS_AS(put(*storage, "refused", "v"), StorageFault);
  std::atomic<bool> closed{false};
  std::thread closes([&] {
    storage.reset();
    closed = true;
  });
  REQUIRE(comes_to_pass([&] { return closed.load(); }));
  closes.join();
  storage = open({.directory = directory.path() + "/data"});
  CHECK(storage->get("k", value));
}

TEST_CASE("if storage gives up on creating a file the creation fails as during shutdown and is not retried",
          "[storage]") {
  const TemporaryDirectory directory;
  const std::atomic<bool> refuses{false};
  bool gives_up = true;
  const auto files = private_files(rocksdb::FileSystem::Default(), {}, refuses, [&] { return gives_up; });
  const std::string path = directory.path() + "/file";
  std::unique_ptr<rocksdb::FSWritableFile> file;
  CHECK(files->NewWritableFile(path, {}, &file, nullptr).IsShutdownInProgress());
  CHECK_FALSE(std::filesystem::exists(path));
  gives_up = false;
  CHECK(files->NewWritableFile(path, {}, &file, nullptr).ok());
}

TEST_CASE("storage recovers from a full disk even if compactions still have no space", "[storage][holds]") {
  const TemporaryDirectory directory;
  std::atomic<bool> full{false};
  std::atomic<int> refused{0};
  auto storage = open({.directory = directory.path() + "/data", .file_fails = [&](std::string_view) {
                         return StorageJobs::compacts() ? ++refused > 0 : full.load();
                       }});
  int keys_put = 0;
  for (; refused == 0; ++keys_put) {  // four buffers of 16 MB cause a compaction
    REQUIRE(keys_put < 300);
    put(*storage, "k" + std::to_string(keys_put), std::string(1 << 20, 'x'));
  }
  full = true;
  CHECK_THROWS_AS(put(*storage, "refused", "v"), StorageFault);
  full = false;
  CHECK(comes_to_pass([&] { return writes(*storage, "after"); }));
  CHECK(storage->failure().empty());
  CHECK(keys(*storage, "k", "l").size() == static_cast<std::size_t>(keys_put));
}

TEST_CASE("memory used by erased keys is reclaimed whether the keys are erased one by one or as a range",
          "[storage]") {
  auto storage = open();
  const bool as_range = GENERATE(false, true);
  const int keys = GENERATE(100'000, 5'000);
  const std::string value(keys == 100'000 ? 300 : 20'000, 'x');
  for (int i = 0; i < keys; ++i) put(*storage, "k" + std::to_string(i), value);
  put(*storage, "l", "stays");
  const std::uint64_t full = storage->footprint_bytes();
  CHECK(full > keys * value.size());
  if (as_range) {
    Batch batch;
    storage->erase_range(batch, "k", "l");
    storage->write(batch);
  } else {
    for (int i = 0; i < keys; ++i) {
      Batch batch;
      batch.erase("k" + std::to_string(i), value.size());
      storage->write(batch);
    }
  }
  CHECK(comes_to_pass([&] { return storage->footprint_bytes() < full / 20; }));
  std::string found;
  CHECK(storage->get("l", found));
  CHECK_FALSE(storage->get("k1", found));
}

TEST_CASE("a read in either direction that passes many erased keys starts a compaction of those keys",
          "[storage][holds]") {
  const TemporaryDirectory directory;
  const bool durable = GENERATE(false, true);
  auto storage = open({.directory = durable ? directory.path() + "/data" : ""});
  put(*storage, "a", "first");
  put(*storage, "l", "middle");
  put(*storage, "z", "last");
  for (const char* prefix : {"k", "m"}) put_and_erase(*storage, prefix);
  const auto walk = [&](std::string_view lower, std::string_view upper, auto move) {
    Storage::Iterator iterator(*storage, lower, upper);
    const std::string key = move(iterator);
    return std::pair(key, iterator.dead_keys_passed());
  };
  const auto key_of = [](Storage::Iterator& iterator) {
    return iterator.valid() ? std::string(iterator.key()) : std::string();
  };
  struct Walk {
    const char *lower, *upper, *found;
    std::function<void(Storage::Iterator&)> move;
  };
  const Walk walks[] = {
      {"k", "m", "l", [](auto& i) { i.seek_to_first(); }},
      {"a", "m", "l", [](auto& i) { i.seek("k"); }},
      {"a", "l", "a", [](auto& i) { i.seek_to_last(); }},
      {"a", "z", "l", [](auto& i) { i.seek("a"), i.next(); }},
      {"a", "l", "", [](auto& i) { i.seek("a"), i.next(); }},
      {"b", "zz", "l", [](auto& i) { i.seek_to_last(), i.prev(); }},
      {"m", "zz", "", [](auto& i) { i.seek_to_last(), i.prev(); }},
  };
  const int number = GENERATE(range(0, 7));
  const Walk& one = walks[number];
  INFO("walk " << number << ", durable: " << durable);
  const auto go = [&] {
    return walk(one.lower, one.upper, [&](Storage::Iterator& iterator) {
      one.move(iterator);
      return key_of(iterator);
    });
  };
  CHECK(go() == std::pair(std::string(one.found), std::uint64_t{keys_erased}));
  CHECK(comes_to_pass([&] {
    const auto [key, passed] = go();
    REQUIRE(key == one.found);
    return passed == 0;
  }));
  CHECK(keys(*storage, "a", "zz") == std::vector<std::string>{"a", "l", "z"});
}

TEST_CASE("memory used by overwritten values is reclaimed while writes continue", "[storage]") {
  auto storage = open();
  const auto [keys, value_bytes] =
      GENERATE(std::pair(1000, 100), std::pair(100, 12'000), std::pair(100, 20'000));
  const std::string value(value_bytes, 'x');
  std::string found;
  int puts = 0;
  const auto overwrite = [&, keys = keys](int times) {
    for (const int end = puts + times; puts < end; ++puts) {
      const std::string key = "k" + std::to_string(puts % keys);
      Batch batch;
      batch.put(key, value);
      if (storage->get(key, found)) batch.note_replaced(found.size());
      storage->write(batch);
    }
  };
  overwrite(100 * keys);
  CHECK(comes_to_pass([&, keys = keys] {
    overwrite(20);  // at this rate, 400 writes in 200 ms, storage is never idle
    return storage->footprint_bytes() < 2 * keys * value.size() + (3 << 20);
  }));
  for (int i = 0; i < keys; ++i) {
    REQUIRE(storage->get("k" + std::to_string(i), found));
    CHECK(found == value);
  }
}

TEST_CASE("a few megabytes of overwritten values are reclaimed once writes stop", "[storage]") {
  auto storage = open();
  const std::string value(4000, 'x');
  for (int puts = 0; puts < 1000; ++puts) {
    Batch batch;
    batch.put("k" + std::to_string(puts % 10), value);
    if (puts >= 10) batch.note_replaced(value.size());
    storage->write(batch);
  }
  CHECK(storage->footprint_bytes() > 3 << 20);
  CHECK(comes_to_pass([&] { return storage->footprint_bytes() < 1 << 20; }));
}

TEST_CASE("memory filled by overwritten values is reclaimed", "[storage]") {
  auto storage = open({.memory_bytes_max = 40 << 20});
  for (int puts = 0; puts < 1000 && storage->has_room(); ++puts) {
    Batch batch;
    batch.put("k" + std::to_string(puts % 50), std::string(100'000, 'x'));
    if (puts >= 50) batch.note_replaced(100'000);
    storage->write(batch);
  }
  CHECK(comes_to_pass([&] { return storage->has_room(); }));
  CHECK(storage->footprint_bytes() < 40 << 20);
}

TEST_CASE("full memory is reported and erased values are reclaimed", "[storage]") {
  std::mutex mutex;
  std::string told;
  auto storage = open({.report =
                           [&](std::string_view sentence) {
                             const std::lock_guard lock(mutex);
                             told.append(sentence).append("\n");
                           },
                       .memory_bytes_max = 40 << 20});
  CHECK(storage->memory_bytes_max() == 40 << 20);
  int keys = 0;
  for (; storage->has_room(); ++keys) {
    REQUIRE(keys < 1000);
    put(*storage, "k" + std::to_string(keys), std::string(100'000, 'x'));
  }
  CHECK(storage->footprint_bytes() >= 40 << 20);
  CHECK(storage->footprint_bytes() < 44 << 20);
  for (int i = 0; i < keys; ++i) {
    Batch batch;
    batch.erase("k" + std::to_string(i), 100'000);
    storage->write(batch);
  }
  CHECK(comes_to_pass([&] { return storage->has_room(); }));
  CHECK(storage->footprint_bytes() < 40 << 20);
  const std::lock_guard lock(mutex);
  CHECK(told ==
        "storage reached its memory limit and rejects new data until memory is freed\n"
        "storage is below its memory limit again\n");
}

TEST_CASE("the default memory limit is half of the memory that the process may use", "[storage]") {
  CHECK(open()->memory_bytes_max() == os::process_memory_bytes() / 2);
}

}  // namespace mayfly::testing
