// An emulator whose requests a fuzzer makes: it has two tables with items, does nothing by itself, and each
// input finds it as the first did.
//
//   FuzzedEmulator& emulator = FuzzedEmulator::get();
//   emulator.begin(input);
//   emulator.execute("GetItem", R"({"TableName":"short","Key":{"id":{"S":"a"}}})");
//   emulator.finish();
//
// Tables: "short" (id, a string) with the global index "by_n" (n, a number), TTL on "ttl" and a stream;
// "long" (id, a string, and at, a number) with the local index "by_b" (b, a binary) and the global one "by_s"
// (s, a string).
//
// Most inputs change nothing, and the next goes on where they were. After one that has storage written to the
// account is reset, and tables and items are made anew, by the engine: no request is read for it. Rejected:
// restoring a snapshot, and verifying all that is stored, after each. Both decode every description, which is
// written again to be compared; requests took a sixth of the time.
//
// So in a long run (long_run.h) all is verified after one input of 32, which the input itself chooses by its
// bytes: what is found there is found again by the same input alone, and what breaks storage unseen is seen
// when one of its bytes changes. Those inputs also meet an account with a snapshot, and its restoring is
// verified, too. Every other run verifies after each. After 256 worlds nothing may be left over, and the
// database is thrown away. What an input leaves in it beyond its account may break a later one: for that the
// long run keeps a file of all that the database has met.
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
#include "tests/fuzz/long_run.h"
#include "tests/support/stepped_scheduler.h"

namespace mayfly::testing {

class FuzzedEmulator {
 public:
  static FuzzedEmulator& get();

  // What is executed from now on is this input's.
  void begin(std::string_view input);
  // Of the body each "$Name" is replaced by what a member of that name was in the latest answer that had one.
  // What must be so: the answer is a 200 or a client's mistake, and JSON; where storage is verified, both
  // readers of JSON can read it.
  compat::Answer execute(std::string_view operation, std::string_view body);
  // A control call, or one of Lambda's. After one that changes something the emulator is thrown away: it may
  // have left more than an account's reset takes back.
  compat::mcp::Asked call(std::string_view method, const std::string& path, const std::string& body,
                          const std::stop_token& stop);
  void advance(std::chrono::milliseconds by);
  // Since the input began.
  [[nodiscard]] bool has_changed() const { return changed_; }
  // What must be so of all that is stored is so, if that is looked at. Then everything is as it was at first.
  void finish();

 private:
  struct FirstItem {
    std::size_t table;  // of first_tables_
    engine::Item item;
  };

  FuzzedEmulator();
  void open();        // another, with nothing in it
  void make_world();  // the first tables and items
  void verify();
  void remember(std::string_view answer);
  [[nodiscard]] std::string substituted(std::string_view body) const;

  const engine::Scope scope_{"000000000000", "us-east-1"};
  std::vector<engine::Table> first_tables_;
  std::vector<FirstItem> first_items_;
  std::shared_ptr<SteppedScheduler> scheduler_;
  std::unique_ptr<compat::Emulator> emulator_;
  std::optional<engine::SnapshotId> snapshot_;                  // of the world as it was made
  bool verifies_ = false;                                       // after this input
  bool changed_ = false;                                        // storage was written to, or time has passed
  bool was_controlled_ = false;                                 // by a control call that changes something
  int worlds_ = 0;                                              // that this emulator has had
  std::map<std::string, std::string, std::less<>> remembered_;  // JSON
};

}  // namespace mayfly::testing
