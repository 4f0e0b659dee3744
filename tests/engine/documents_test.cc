#include "engine/documents.h"

#include <catch2/catch.hpp>

#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

std::vector<std::string> names(const std::vector<Document>& documents) {
  std::vector<std::string> out;
  for (const Document& one : documents)
    out.push_back(one.name.account + "/" + one.name.name + "=" + one.bytes);
  return out;
}

}  // namespace

TEST_CASE("documents are found by name, by kind and by account") {
  World world;
  Documents& documents = world.database().documents();
  documents.put({"000000000001", "function", "a"}, "1");
  documents.put({"000000000001", "function", "b"}, "2");
  documents.put({"000000000001", "functions", "c"}, "3");
  documents.put({"000000000002", "function", "a"}, "4");
  CHECK(documents.get({"000000000001", "function", "b"}) == "2");
  CHECK(documents.get({"000000000002", "function", "b"}) == std::nullopt);
  CHECK(names(documents.list("function")) ==
        std::vector<std::string>{"000000000001/a=1", "000000000001/b=2", "000000000002/a=4"});
  CHECK(names(documents.list("000000000001", "function")) ==
        std::vector<std::string>{"000000000001/a=1", "000000000001/b=2"});
  CHECK(names(documents.list("000000000001", "function", "b")) ==
        std::vector<std::string>{"000000000001/b=2"});
}

TEST_CASE("documents are written together, and survive a reopening") {
  Directory directory;
  World world({.directory = directory.path()});
  world.database().documents().put({"000000000001", "position", "old"}, "1");
  world.database().documents().write({{"000000000001", "position", "old"}},
                                     {{{"000000000001", "position", "new"}, "2"}});
  world.reopen();
  CHECK(names(world.database().documents().list("position")) ==
        std::vector<std::string>{"000000000001/new=2"});
}

TEST_CASE("whoever keeps documents in memory is told when an account's state is replaced, and finds it so") {
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
  const SnapshotId id = database.take_snapshot(account);
  documents.put({account, "@kind", "a"}, "2");
  CHECK(told.empty());
  CHECK_FALSE(database.restore_snapshot(account, id + 1));
  CHECK(told.empty());
  CHECK(database.restore_snapshot(account, id));
  CHECK(told == account + ":1 ");
  CHECK(told_beside == std::vector{account});
  documents.listen(&told_beside, {});
  database.reset(account);
  CHECK(told == account + ":1 " + account + ":none ");
  CHECK(told_beside == std::vector{account});
}

}  // namespace mayfly::testing
