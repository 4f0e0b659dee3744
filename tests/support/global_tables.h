// Global tables for the engine's tests: adds and removes replicas like UpdateTable, and delivers writes in
// flight when the test calls settle().
//
//   auto carts = world.create(simple_table("carts"));
//   replicate(world, carts, {"eu-west-1"});
//   world.put(carts, cart("a", "1"));
//   settle(world);
//   world.get(in(world, "eu-west-1"), {{"id", "a"}});
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/background/replication.h"
#include "engine/database.h"
#include "tests/support/engine_world.h"

namespace mayfly::testing {

inline std::shared_ptr<LiveTable> in(World& world, const std::string& region,
                                     std::string_view name = "carts") {
  return world.database().catalog().find({std::string(account), region}, name);
}

// Adds replicas in these regions, like UpdateTable.
inline void replicate(World& world, const std::shared_ptr<LiveTable>& table,
                      const std::vector<std::string>& regions, bool strong = false) {
  const auto made = world.database().tables().update_together(table, [&](std::vector<Table>& tables) {
    for (Table& each : tables) {
      if (!each.stream) each.stream = stream_of(StreamView::new_and_old_images);
      each.strong = strong;
    }
    for (const std::string& region : regions) {
      Table copy = tables.front();
      copy.id = 0;
      copy.region = region;
      copy.strong = strong;
      copy.stream.reset();
      if (strong) copy.stream = stream_of(StreamView::new_and_old_images);
      copy.latest_stream_label.reset();
      copy.next_index_id = 1;
      for (Index& index : copy.indexes) {
        index.id = 0;
        index.state = Index::State::active;
      }
      tables.push_back(std::move(copy));
    }
    return true;
  });
  REQUIRE(made);
}

inline void remove_replica(World& world, const std::string& from, const std::string& region) {
  REQUIRE(world.database().tables().update_together(in(world, from), [&](std::vector<Table>& tables) {
    return std::erase_if(tables, [&](const Table& table) { return table.region == region; }) == 1;
  }));
}

inline void settle(World& world) { world.database().replication().settle_in_slices(account); }

inline void set_route(World& world, const std::string& from, const std::string& to, RouteSetting setting) {
  REQUIRE(world.database().replication().set_route(account, {from, to}, setting));
}

inline Item cart(std::string id, std::string value) {
  return {{"id", std::move(id)}, {"v", std::move(value)}};
}

}  // namespace mayfly::testing
