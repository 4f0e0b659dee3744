// A write that fails is undone completely, and an acknowledged write survives kill -9.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <thread>
#include <vector>

#include "engine/database.h"
#include "engine/time/expiry_index.h"
#include "engine/verify/directory_check.h"
#include "os/terminal.h"
#include "tests/support/engine_world.h"
#include "tests/support/own_program.h"

namespace mayfly::testing {

using namespace engine;

namespace {

Table table_with_everything() {
  Table table = simple_table("carts");
  table.indexes = {local_index("by_day", "day"), global_index("by_user", "user")};
  table.stream = stream_of(StreamView::new_and_old_images);
  return table;
}

// Replays the table's stream and compares the result with the table. Returns the first difference, or "".
std::string stream_difference(World& world, const std::shared_ptr<LiveTable>& table) {
  std::map<std::string, Item> followed;
  for (const ChangeRecord& record : world.records(table->description()->stream->id)) {
    const std::string id = *record.keys.find("id")->get_if<std::string>();
    const auto before = followed.find(id);
    if (record.old_image ? before == followed.end() || !(before->second == *record.old_image)
                         : before != followed.end())
      return "record " + std::to_string(record.sequence) + " of " + id +
             " does not follow the previous record";
    if (record.new_image)
      followed[id] = *record.new_image;
    else
      followed.erase(id);
  }
  for (const Item& item : world.all(table)) {
    const std::string id = *item.find("id")->get_if<std::string>();
    if (followed.count(id) == 0 || !(followed[id] == item)) return "item " + id + " differs from the stream";
    followed.erase(id);
  }
  // Readers do not see expired items, even if their deletion failed.
  std::erase_if(followed, [&](const auto& entry) {
    const auto due = due_of(*table->description(), entry.second);
    return due && is_expired(*due, world.now());
  });
  return followed.empty() ? "" : "item " + followed.begin()->first + " is missing";
}

// One step of a workload that changes everything that a write can change.
void play(World& world, const std::shared_ptr<LiveTable>& carts, int step) {
  const std::string id = "i" + std::to_string(step % 5);
  switch (step % 4) {
    case 0:
    case 1:
      world.put(carts, {{"id", id},
                        {"day", step % 3 ? "mon" : "tue"},
                        {"user", "u" + std::to_string(step)},
                        {"ttl", number(start_seconds + step)}});
      return;
    case 2: world.remove(carts, {{"id", id}}); return;
    case 3: world.advance(world.now() + 2500); return;
  }
}

}  // namespace

TEST_CASE("a write that fails leaves the item and everything derived from the item unchanged",
          "[crash][holds]") {
  const TemporaryDirectory directory;
  const bool on_disk = GENERATE(false, true);
  constexpr int steps = 16;
  int failing = 0;
  for (int faults = 1; faults > 0; ++failing) {
    INFO("write " << failing << " fails");
    int writes = -1000;  // the count excludes the writes that create the table
    World world({.directory = on_disk ? directory.path() + "/" + std::to_string(failing) : "",
                 .reap = false,
                 .write_fails = [&] { return writes++ == failing; }});
    auto carts = world.create(table_with_everything());
    world.enable_ttl(carts);
    writes = 0;
    faults = 0;
    for (int step = 0; step < steps; ++step) {
      const Sequence published = world.database().watermark().published();
      try {
        play(world, carts, step);
      } catch (const StorageFault&) {
        ++faults;
        // An advance may have deleted other items before it failed. No other step that fails publishes a
        // record.
        if (step % 4 != 3) CHECK(world.database().watermark().published() == published);
      }
      REQUIRE(world.inconsistency(carts) == "");
      REQUIRE(stream_difference(world, carts) == "");
    }
    CHECK(faults <= 1);  // 0 if there are fewer writes than `failing`
    writes = 1000;
    world.advance(start_ms + 100'000);  // now the items whose deletion failed are deleted
    CHECK(world.all(carts).empty());
    if (!on_disk) continue;
    carts.reset();
    world.reopen();
    carts = world.find("carts");
    CHECK(world.inconsistency(carts) == "");
    CHECK(stream_difference(world, carts) == "");
  }
  CHECK(failing > 10);
}

// The process that a test kills. It writes forever and prints a line after each write that returns.
TEST_CASE("a process writes until it is killed", "[.victim]") {
  const char* path = std::getenv("MAYFLY_TEST_VICTIM");
  REQUIRE(path);
  World world({.directory = path, .fsync = std::getenv("MAYFLY_TEST_FSYNC") != nullptr, .reap = false});
  auto carts = world.find("carts");
  if (!carts) {
    carts = world.create(table_with_everything());
    world.enable_ttl(carts);
  }
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 3; ++writer) {
    writers.emplace_back([&, writer] {
      for (int n = 1;; ++n) {
        const std::string id = std::to_string(writer) + "-" + std::to_string(n % 20);
        Transaction transaction(world.database().write_path(), Cause::user);
        const auto slot = transaction.add(carts, key_of(*carts->description(), {{"id", id}}));
        if (!transaction.lock()) return;
        // Continues the count of the previous process.
        const StoredItem* old = transaction.old_item(slot);
        const std::int64_t count =
            old ? *old->item().find("count")->get_if<Number>()->floor_scaled(0) + 1 : 1;
        transaction.put(slot, {{"id", id},
                               {"count", number(count)},
                               {"user", "u" + std::to_string(n % 7)},
                               {"day", "d" + std::to_string(n % 3)},
                               {"ttl", number(start_seconds + 1000 + n)}});
        transaction.commit();
        os::write_error(id + " " + std::to_string(count) + "\n");
      }
    });
  }
  for (std::thread& thread : writers) thread.join();
}

TEST_CASE("an acknowledged write survives kill -9 with everything derived from it", "[crash][holds]") {
  const TemporaryDirectory directory;
  const bool fsync = GENERATE(false, true);
  const std::string path = directory.path() + "/data";
  std::map<std::string, std::int64_t> acknowledged;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::string> variables = {"MAYFLY_TEST_VICTIM=" + path};
    if (fsync) variables.push_back("MAYFLY_TEST_FSYNC=1");
    // The acknowledgments are written to standard error, separate from Catch's output.
    os::Child child = own_program({"a process writes until it is killed"}, variables);
    int lines = 0;
    each_line_of(child, [&](const std::string& line) {
      const std::size_t space = line.find(' ');
      acknowledged[line.substr(0, space)] = std::stoll(line.substr(space + 1));
      if (++lines == 200) child.kill();
    });
    REQUIRE(child.wait() == killed_status);
    REQUIRE(acknowledged.size() > 10);

    const auto checked = verify_directory(
        path, {.wrong = [](std::string_view, std::string_view line) { UNSCOPED_INFO(line); }});
    REQUIRE(checked);
    REQUIRE(checked->wrong == 0);
    REQUIRE(checked->checked->items > 10);

    World world({.directory = path, .reap = false});
    auto carts = world.find("carts");
    REQUIRE(carts);
    for (const auto& [id, count] : acknowledged) {
      const auto item = world.get(carts, {{"id", id}});
      INFO(id << " was acknowledged as " << count);
      REQUIRE(item);
      REQUIRE(*item->find("count")->get_if<Number>()->floor_scaled(0) >= count);
    }
    CHECK(world.inconsistency(carts) == "");
    CHECK(stream_difference(world, carts) == "");
  }
}

}  // namespace mayfly::testing
