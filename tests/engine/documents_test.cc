#include "engine/storage/documents.h"

#include <catch2/catch.hpp>

#include "engine/background/snapshot_heads.h"
#include "engine/background/snapshots.h"
#include "engine/base/storage_fault.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

std::vector<std::string> names_of_documents(const std::vector<Document>& documents) {
  std::vector<std::string> out;
  for (const Document& one : documents)
    out.push_back(one.name.account + "/" + one.name.name + "=" + one.bytes);
  return out;
}

}  // namespace

TEST_CASE("documents can be found by name and listed by kind and by account") {
  World world;
  Documents& documents = world.database().documents();
  documents.put({"000000000001", "function", "a"}, "1");
  documents.put({"000000000001", "function", "b"}, "2");
  documents.put({"000000000001", "functions", "c"}, "3");
  documents.put({"000000000002", "function", "a"}, "4");
  CHECK(documents.get({"000000000001", "function", "b"}) == "2");
  CHECK(documents.get({"000000000002", "function", "b"}) == std::nullopt);
  CHECK(names_of_documents(documents.list("function")) ==
        std::vector<std::string>{"000000000001/a=1", "000000000001/b=2", "000000000002/a=4"});
  CHECK(names_of_documents(documents.list("000000000001", "function")) ==
        std::vector<std::string>{"000000000001/a=1", "000000000001/b=2"});
  CHECK(names_of_documents(documents.list("000000000001", "function", "b")) ==
        std::vector<std::string>{"000000000001/b=2"});
}

TEST_CASE("documents are written in one batch and survive reopening the database") {
  TemporaryDirectory directory;
  World world({.directory = directory.path()});
  world.database().documents().put({"000000000001", "position", "old"}, "1");
  world.database().documents().write({{"000000000001", "position", "old"}},
                                     {{{"000000000001", "position", "new"}, "2"}});
  world.reopen();
  CHECK(names_of_documents(world.database().documents().list("position")) ==
        std::vector<std::string>{"000000000001/new=2"});
}

TEST_CASE("listeners are told when an account's state is replaced and can read the new documents") {
  World world;
  Database& database = world.database();
  Documents& documents = database.documents();
  const std::string account(testing::account);
  std::string told;
  std::vector<std::string> told_beside;
  documents.listen(&told, [&](std::string_view replaced) {
    told += std::string(replaced) + ":" + documents.get({account, "@kind", "a"}).value_or("none") + " ";
  });
  documents.listen(&told_beside, [&](std::string_view replaced) { told_beside.emplace_back(replaced); });
  documents.put({account, "@kind", "a"}, "1");
  const SnapshotId id = database.snapshots().take(account);
  documents.put({account, "@kind", "a"}, "2");
  CHECK(told.empty());
  CHECK_FALSE(database.snapshots().restore(account, id + 1));
  CHECK(told.empty());
  CHECK(database.snapshots().restore(account, id));
  CHECK(told == account + ":1 ");
  CHECK(told_beside == std::vector{account});
  documents.listen(&told_beside, {});
  database.snapshots().reset(account);
  CHECK(told == account + ":1 " + account + ":none ");
  CHECK(told_beside == std::vector{account});
}

// Listeners that came after a failed listener used to be skipped, so reads could see a table that a restore
// from a backup had only half filled.
TEST_CASE("all listeners are notified even if some of them fail and the first failure is rethrown") {
  World world;
  Documents& documents = world.database().documents();
  const std::string account(testing::account);
  std::vector<std::string> told;
  const int first = 1, second = 2;
  documents.listen(&first, [&](std::string_view) { throw StorageFault("the disk is full"); });
  documents.listen(&second, [&](std::string_view) { throw StorageFault("memory ran out"); });
  documents.listen(&told, [&](std::string_view replaced) { told.emplace_back(replaced); });
  const SnapshotId id = world.database().snapshots().take(account);
  CHECK_THROWS_WITH(world.database().snapshots().restore(account, id), "the disk is full");
  CHECK(told == std::vector{account});
  CHECK_THROWS_WITH(world.database().snapshots().reset(account), "the disk is full");
  CHECK(told == std::vector{account, account});
}

}  // namespace mayfly::testing
