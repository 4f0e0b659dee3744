#include "engine/background/snapshot_heads.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

namespace mayfly::testing {

using namespace engine;

namespace {

SnapshotHeads::OfAccount heads_of(SnapshotId first, std::vector<TableId> tables) {
  SnapshotHeads::OfAccount heads;
  for (SnapshotId id = first; id < first + 3; ++id) SnapshotHeads::add(heads, id, {}, tables);
  return heads;
}

}  // namespace

TEST_CASE("snapshots with the same tables share one list of tables", "[snapshots]") {
  const auto heads = heads_of(1, {7, 3, 7});
  CHECK(*heads.at(1).tables == std::vector<TableId>{3, 7});
  CHECK(heads.at(1).tables == heads.at(3).tables);
  CHECK(SnapshotHeads::has(heads, 3));
  CHECK_FALSE(SnapshotHeads::has(heads, 4));
}

TEST_CASE("readers see an account's snapshots as they were either before or after a concurrent change",
          "[snapshots]") {
  // The account alternates between three states: three snapshots of table 1, three snapshots of table 2, and
  // no snapshots.
  const std::string account = "000000000000", other = "000000000042";
  SnapshotHeads heads;
  heads.set(other, heads_of(100, {9}));
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0}, seen{0};
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&] {
      while (!stop) {
        const auto of_account = heads.of(account);
        if (!of_account.empty()) {
          ++seen;
          const bool first = of_account.begin()->first == 1;
          wrong += of_account.size() != 3 || SnapshotHeads::has(of_account, 1) != first ||
                   SnapshotHeads::has(of_account, 2) == first;
        }
        if (const auto head = heads.find(account, 10)) wrong += *head->tables != std::vector<TableId>{2};
        wrong += heads.have(account, 9) || !heads.have(other, 9) || heads.accounts().empty();
      }
    });
  }
  for (int round = 0; round < 20'000 || (seen < 1000 && round < 2'000'000); ++round) {
    heads.set(account, heads_of(1, {1}));
    heads.set(account, heads_of(10, {2}));
    heads.set(account, {});
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(wrong == 0);
  CHECK(seen > 0);
}

}  // namespace mayfly::testing
