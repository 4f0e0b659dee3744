// Decides which shards of a table this sweeper sweeps. Two sweepers can hold the same shard only briefly.
//
// Each sweeper has a row with a counter that it increments three times per lease. If a sweeper sees another
// sweeper's counter unchanged for a whole lease, by its own clock, it considers the other sweeper dead and
// takes that sweeper's shards. So the sweepers' clocks need not agree. A sweeper that could not write its
// counter for a whole lease stops (`valid`). Until that sweeper stops, a shard may have two sweepers.
// docs/sweep.md says why this deletes nothing twice and nothing early.
//
//   Leases leases(state, {.me = "web-1:4242:9f3a", .lease = 3s, .shards = 16});
//   leases.renew(first_watermark);        // every third of a lease
//   for (const Held& held : leases.held()) …
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/sweep/state.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"

namespace mayfly::sweep {

struct Held {
  int shard = 0;
  std::int64_t generation = 0;
  std::int64_t watermark = 0;  // when the shard was taken
};

struct LeaseOptions {
  std::string me;  // unique among all sweepers and among all runs of this sweeper
  std::chrono::milliseconds lease{3000};
  int shards = 16;
  bool alone = false;  // takes all available shards, even if there are other sweepers: for a single pass
};

// The last counter value seen from another sweeper, and when it changed, by this sweeper's clock.
struct Beat {
  std::int64_t count = 0;
  engine::RealTime changed{};
};

// The changes that a sweeper makes because of the rows that it has read. lease_changes() is a pure function.
struct LeaseChanges {
  std::vector<int> take, release;
  std::vector<std::string> dead;  // sweepers whose shards may be taken
  std::size_t sweepers = 1;       // live sweepers, including this one
};
LeaseChanges lease_changes(const StateRows& rows, const std::map<std::string, Beat>& beats,
                           const LeaseOptions& options, engine::RealTime now);

// Thread-safe, but only one thread may call renew().
class Leases {
 public:
  Leases(State& state, LeaseOptions options) : state_(state), options_(std::move(options)) {}

  struct Renewed {
    std::vector<int> taken, released, lost;
    std::size_t sweepers = 1;
  };
  // `first_watermark` is the watermark of shards that were never swept.
  Expected<Renewed, aws::Failure> renew(std::int64_t first_watermark) EXCLUDES(mutex_);
  // For a dry run: assumes that this sweeper holds all shards, with the watermarks of `rows`. Writes nothing.
  void assume(const std::map<int, ShardRow>& rows, std::int64_t first_watermark) EXCLUDES(mutex_);
  // Releases all shards, so that other sweepers need not wait for the lease to end.
  void end() EXCLUDES(mutex_);

  [[nodiscard]] std::vector<Held> held() const EXCLUDES(mutex_);  // empty if not valid()
  [[nodiscard]] bool valid() const EXCLUDES(mutex_);
  [[nodiscard]] const std::string& me() const { return options_.me; }

 private:
  State& state_;
  const LeaseOptions options_;
  std::map<std::string, Beat> beats_;  // beats of other sweepers; used only by the renewing thread
  std::int64_t count_ = 0;
  mutable engine::Mutex mutex_;
  std::map<int, Held> held_ GUARDED_BY(mutex_);
  engine::RealTime valid_until_ GUARDED_BY(mutex_){};
};

}  // namespace mayfly::sweep
