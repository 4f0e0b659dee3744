// Writers, splits and a consumer on one stream, with a kill -9 in the middle: what was acknowledged, against
// what the consumer saw. For a test of some thousand records and for a measurement of a million
// (bench/streams.cc).
//
//   TEST_CASE("the writers that are killed", "[.]") { play_first_half(); }
//   ...
//   const StreamOutcome outcome = run_stream({.directory = directory.path(),
//                                             .kill_after = 1000,
//                                             .first_half = {"compat_tests",
//                                                            "the writers that are killed"}});
//   CHECK(outcome.wrong == "");
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compat/emulator.h"

namespace mayfly::testing {

// Follows a stream as clients do: DescribeStream at first, then a shard's iterators to its end, then its
// children (ShardFilter). Where it stands can be kept, and another may go on from there.
class StreamConsumer {
 public:
  struct Record {
    std::string id;
    std::int64_t before;  // the item's n in the old image; -1: there was no item
    std::int64_t n;
  };
  // Tells of each page that has records or is a shard's last, before the next one is asked for. `next`: the
  // iterator to go on with; empty: the shard has ended.
  using OnPage = std::function<void(const std::string& shard, const std::string& next,
                                    const std::vector<Record>& records)>;
  using Places = std::map<std::string, std::string>;  // shard -> next

  StreamConsumer(compat::Emulator& emulator, std::string arn, std::size_t page_records, OnPage on_page,
                 Places places = {});

  // Asks once in each open shard. False: nothing was new.
  bool turn();

 private:
  void find_shards(const std::string& parent);
  std::string call(const std::string& operation, const std::string& body);

  compat::Emulator& emulator_;
  const std::string arn_;
  const std::size_t page_records_;
  const OnPage on_page_;
  Places places_;
};

struct StreamRun {
  std::string directory;
  int writers = 8;
  int writes = 2500;  // by each writer
  int items = 37;     // of each writer, which it writes in turn
  std::uint32_t first_shards = 2;
  int reshards = 30;        // splits and roll-overs, spread over the writes
  std::int64_t kill_after;  // acknowledged writes
  std::size_t page_records = 1000;
  std::vector<std::string> first_half;  // how this executable is called for what is killed
};

struct StreamOutcome {
  std::string wrong;  // the first thing; empty: each record was seen once, in order per item
  std::int64_t acknowledged_before_kill = 0;
  std::int64_t seen_before_kill = 0;
  std::int64_t seen = 0;
  std::size_t shards = 0;  // that were read
  double seconds_before_kill = 0;
  double seconds_to_open = 0;  // to open the directory again
  double seconds_after_kill = 0;
};

// What `first_half` shall call: writes and consumes until it is killed.
[[noreturn]] void play_first_half();

StreamOutcome run_stream(const StreamRun& run);

// The same writes with nobody reading and no shard closing: how many seconds they take.
double write_alone(const StreamRun& run);

}  // namespace mayfly::testing
