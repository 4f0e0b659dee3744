// Runs writers, splits and a consumer on one stream, with a kill -9 in the middle, and compares the
// acknowledged writes with the records that the consumer saw. A test uses thousands of records, and a
// measurement (bench/streams.cc) uses a million.
//
//   TEST_CASE("writers run until they are killed", "[.]") { play_first_half(); }
//   ...
//   const StreamOutcome outcome = run_stream({.directory = directory.path(),
//                                             .kill_after = 1000,
//                                             .first_half = {"writers run until they are killed"}});
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

// Follows a stream like a client: calls DescribeStream, follows a shard's iterators to the shard's end, and
// then finds the shard's children (ShardFilter). Another consumer can continue from its position.
class StreamConsumer {
 public:
  struct Record {
    std::string id;
    std::int64_t before;  // the item's n in the old image, or -1 if there was no item
    std::int64_t n;
  };
  // Called for each page that has records or is a shard's last, before the next page is requested. `next` is
  // the iterator to continue with, or empty if the shard has ended.
  using OnPage = std::function<void(const std::string& shard, const std::string& next,
                                    const std::vector<Record>& records)>;
  using Places = std::map<std::string, std::string>;  // shard -> next

  StreamConsumer(compat::Emulator& emulator, std::string arn, std::size_t page_records, OnPage on_page,
                 Places places = {});

  // Reads once from each open shard. Returns false if nothing was new.
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
  int writes = 2500;  // writes per writer
  int items = 37;     // items per writer, written in rotation
  std::uint32_t first_shards = 2;
  int reshards = 30;        // splits and roll-overs, spread over the writes
  std::int64_t kill_after;  // number of acknowledged writes
  std::size_t page_records = 1000;
  std::vector<std::string> first_half;  // arguments with which this program runs the half that is killed
};

struct StreamOutcome {
  std::string wrong;  // the first error, or empty if each record was seen once and in order per item
  std::int64_t acknowledged_before_kill = 0;
  std::int64_t seen_before_kill = 0;
  std::int64_t seen = 0;
  std::size_t shards = 0;  // shards that were read
  double seconds_before_kill = 0;
  double seconds_to_open = 0;  // time to reopen the directory
  double seconds_after_kill = 0;
};

// Writes and consumes until the process is killed. The program that `first_half` starts must call this.
[[noreturn]] void play_first_half();

StreamOutcome run_stream(const StreamRun& run);

// Makes the same writes without a consumer and without closing shards. Returns how long they took, in
// seconds.
double write_alone(const StreamRun& run);

}  // namespace mayfly::testing
