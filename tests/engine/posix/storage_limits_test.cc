// Tests of storage under limits that only POSIX systems have, and of the memory that glibc returns.
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <functional>
#include <mutex>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <utility>
#include <vector>

#include "engine/storage/storage.h"
#include "os/memory.h"
#include "tests/support/temporary_directory.h"

namespace mayfly::testing {

using namespace engine;

namespace {

std::unique_ptr<Storage> open_limited(StorageOptions options = {}) {
  auto opened = Storage::open(std::move(options));
  REQUIRE(opened);
  return *std::move(opened);
}

void put_limited(Storage& storage, std::string_view key, std::string_view value) {
  Batch batch;
  batch.put(key, value);
  storage.write(batch);
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
    put_limited(storage, key, "v");
    return true;
  } catch (const StorageFault&) {
    return false;
  }
}

}  // namespace

TEST_CASE("a lack of file descriptors is reported and writes resume without a restart", "[storage][holds]") {
  const TemporaryDirectory directory;
  std::mutex mutex;
  std::vector<std::string> told;
  auto storage =
      open_limited({.directory = directory.path() + "/data", .report = [&](std::string_view sentence) {
                      const std::lock_guard lock(mutex);
                      told.emplace_back(sentence);
                    }});
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{3, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  std::vector<std::string> acknowledged;
  bool stopped = false;
  for (int i = 0; i < 64 && !stopped; ++i) {
    const std::string key = "k" + std::to_string(i);
    try {
      put_limited(*storage, key, std::string(1 << 20, 'x'));
      acknowledged.push_back(key);
    } catch (const StorageFault&) {
      stopped = comes_to_pass([&] { return !storage->failure().empty(); });
    }
  }
  const std::string failure = storage->failure();
  const std::uint64_t faults = storage->faults();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(stopped);
  CHECK(failure.find("Too many open files") != std::string::npos);
  CHECK(faults > 0);
  REQUIRE(comes_to_pass([&] { return writes(*storage, "after"); }));
  CHECK(storage->failure().empty());
  storage.reset();
  const std::lock_guard lock(mutex);
  const auto is_told = [&](std::string_view part) {
    return std::any_of(told.begin(), told.end(),
                       [&](const std::string& sentence) { return sentence.find(part) != std::string::npos; });
  };
  CHECK(is_told("storage is read-only until this is resolved: IO error"));
  CHECK(is_told("storage accepts writes again"));
  storage = open_limited({.directory = directory.path() + "/data"});
  std::string value;
  for (const std::string& key : acknowledged) REQUIRE(storage->get(key, value));
}

// Sanitizers have their own allocators, which do not return freed memory.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("stored data takes little more memory than its size once writes stop", "[storage]") {
  const auto storage = open_limited();
  const std::uint64_t empty = os::resident_memory_bytes();
  constexpr int keys = 250'000;
  const std::string value(300, 'x');
  for (int i = 0; i < keys; ++i) put_limited(*storage, "k" + std::to_string(i), value);
  const std::uint64_t written = keys * value.size();
  CHECK(comes_to_pass([&] { return os::resident_memory_bytes() < empty + written + written * 2 / 5; }));
}
#endif

}  // namespace mayfly::testing
