// An emulator whose requests a fuzzer makes: it has two tables with items, does nothing by itself, and is as
// it was after each input.
//
//   FuzzedEmulator& emulator = FuzzedEmulator::get();
//   emulator.execute("GetItem", R"({"TableName":"short","Key":{"id":{"S":"a"}}})");
//   emulator.finish();
//
// Tables: "short" (id, a string) with the global index "by_n" (n, a number), TTL on "ttl" and a stream;
// "long" (id, a string, and at, a number) with the local index "by_b" (b, a binary) and the global one "by_s"
// (s, a string).
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "compat/emulator.h"
#include "tests/support/stepped_scheduler.h"

namespace mayfly::testing {

class FuzzedEmulator {
 public:
  static FuzzedEmulator& get();

  // Of the body each "$Name" is replaced by what a member of that name was in the latest answer that had one.
  // What must be so: the answer is a 200 or a client's mistake, and both readers of JSON can read it.
  compat::Answer execute(std::string_view operation, std::string_view body);
  void advance(std::chrono::milliseconds by);
  // What must be so of all that is stored is so. Then everything is as it was at first.
  void finish();

 private:
  FuzzedEmulator() { open(); }
  void open();  // another, in its first state
  void remember(std::string_view answer);
  [[nodiscard]] std::string substituted(std::string_view body) const;

  const engine::Scope scope_{"000000000000", "us-east-1"};
  std::shared_ptr<SteppedScheduler> scheduler_;
  std::unique_ptr<compat::Emulator> emulator_;
  engine::SnapshotId snapshot_ = 0;
  bool changed_ = false;                                        // since the snapshot, perhaps
  int restores_ = 0;                                            // of this emulator
  std::map<std::string, std::string, std::less<>> remembered_;  // JSON
};

}  // namespace mayfly::testing
