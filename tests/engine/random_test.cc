#include "engine/base/random.h"

#include <catch2/catch.hpp>
#include <set>
#include <thread>
#include <vector>

#include "engine/base/uuid.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {
namespace {

using namespace mayfly::engine;

bool is_uuid(const std::string& text) {
  const std::string digits = "0123456789abcdef", variants = "89ab";
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool fits = dash      ? c == '-'
                      : i == 14 ? c == '4'
                      : i == 19 ? variants.find(c) != std::string::npos
                                : digits.find(c) != std::string::npos;
    if (!fits) return false;
  }
  return true;
}

// The ids of tables, some of which are created after a restart.
std::vector<std::string> ids(std::uint64_t seed) {
  TemporaryDirectory directory;
  World world({.directory = directory.path(), .random = std::make_shared<SeededRandom>(seed), .reap = false});
  std::vector<std::string> ids;
  for (const char* const name : {"a", "b", "c"}) {
    ids.push_back(world.create(simple_table(name))->description()->uuid);
    world.reopen();
  }
  return ids;
}

}  // namespace

TEST_CASE("databases with the same seed make the same ids and different seeds make different ids",
          "[random]") {
  const auto first = ids(1);
  CHECK(ids(1) == first);
  const auto other = ids(2);
  std::set<std::string> all(first.begin(), first.end());
  all.insert(other.begin(), other.end());
  CHECK(all.size() == 6);
  for (const std::string& id : all) CHECK(is_uuid(id));
}

TEST_CASE("databases without a seed make different ids", "[random]") {
  std::set<std::string> ids;
  for (int i = 0; i < 3; ++i) {
    World world;
    for (const char* const name : {"a", "b", "c"})
      ids.insert(world.create(simple_table(name))->description()->uuid);
  }
  CHECK(ids.size() == 9);
  for (const std::string& id : ids) CHECK(is_uuid(id));
}

TEST_CASE("threads that concurrently draw numbers from the same seed get different numbers", "[random]") {
  constexpr int threads_max = 8, numbers_max = 10'000;
  SeededRandom random(1);
  std::vector<std::vector<std::uint64_t>> drawn(threads_max);
  std::vector<std::thread> threads;
  for (auto& numbers : drawn)
    threads.emplace_back([&] {
      for (int i = 0; i < numbers_max; ++i) numbers.push_back(random.next());
    });
  for (std::thread& thread : threads) thread.join();
  std::set<std::uint64_t> all;
  for (const auto& numbers : drawn) all.insert(numbers.begin(), numbers.end());
  CHECK(all.size() == threads_max * numbers_max);
}

}  // namespace mayfly::testing
