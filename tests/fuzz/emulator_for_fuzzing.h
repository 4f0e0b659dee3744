// An emulator for fuzz targets that send requests. It has two tables with items and no background work. Every
// input starts with the same state.
//
//   FuzzedEmulator& emulator = FuzzedEmulator::get();
//   emulator.begin(input);
//   emulator.execute("GetItem", R"({"TableName":"short","Key":{"id":{"S":"a"}}})");
//   emulator.finish();
//
// Tables:
// - "short": key id (string); global index "by_n" on n (number); TTL on "ttl"; a stream
// - "long": keys id (string) and at (number); local index "by_b" on b (binary); global index "by_s" on s
//   (string)
//
// Most inputs change nothing, so the next input continues with the same state. After an input that wrote to
// storage, the account is reset, and the engine creates the tables and items again, without requests.
// Rejected alternative: restoring a snapshot and verifying storage after each input. Both decode every
// description and encode it again for comparison, so only a sixth of the time went to requests.
//
// A long run (long_run.h) therefore verifies storage after one input in 32. The bytes of an input decide
// whether storage is verified after it, so a failure can be reproduced with that input alone. Damage from an
// input that is not verified is found when a mutation of that input is verified. An input that is verified
// also starts with a snapshot, and the restore of that snapshot is verified too. Runs that are not long
// verify storage after each input. After 256 resets of the account, the emulator checks the database for
// leftovers and replaces it. An input can leave something outside its account that makes a later input fail.
// A long run therefore records all inputs since the database was created.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/emulator.h"
#include "compat/mcp/world.h"
#include "engine/background/snapshot_heads.h"
#include "tests/fuzz/long_run.h"
#include "tests/support/stepped_scheduler.h"

namespace mayfly::testing {

class FuzzedEmulator {
 public:
  static FuzzedEmulator& get();

  // Starts an input.
  void begin(std::string_view input);
  // Executes an operation. Each "$Name" in the body is replaced with the value of the member "Name" in the
  // latest response that had this member. Fails unless the response is JSON with status 200 or 400. If
  // storage is verified after this input, both JSON readers must be able to read the response.
  compat::Answer execute(std::string_view operation, std::string_view body);
  // Executes a control call or a Lambda call. After a call that changes something, the emulator is replaced,
  // because a reset of the account might not undo everything.
  compat::mcp::Asked call(std::string_view method, const std::string& path, const std::string& body,
                          const std::stop_token& stop);
  void advance(std::chrono::milliseconds by);
  // Whether storage or time has changed since the input began.
  [[nodiscard]] bool has_changed() const { return changed_; }
  // Ends the input: verifies storage if begin() chose this input for verification, then restores the initial
  // state.
  void finish();

 private:
  struct FirstItem {
    std::size_t table;  // index in first_tables_
    engine::Item item;
  };

  FuzzedEmulator();
  void open();        // creates a new, empty emulator
  void make_world();  // creates the initial tables and items
  void verify();
  void remember(std::string_view answer);
  [[nodiscard]] std::string substituted(std::string_view body) const;

  const engine::Scope scope_{"000000000000", "us-east-1"};
  std::vector<engine::Table> first_tables_;
  std::vector<FirstItem> first_items_;
  std::shared_ptr<SteppedScheduler> scheduler_;
  std::unique_ptr<compat::Emulator> emulator_;
  std::optional<engine::SnapshotId> snapshot_;  // the initial state
  bool verifies_ = false;                       // whether storage is verified after this input
  bool changed_ = false;                        // whether storage was written or time has passed
  bool was_controlled_ = false;                 // whether a control call changed something
  int worlds_ = 0;                              // number of make_world() calls in this emulator
  std::map<std::string, std::string, std::less<>> remembered_;  // JSON values by member name
};

}  // namespace mayfly::testing
