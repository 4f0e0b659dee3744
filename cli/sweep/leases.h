// Which shards of a table this sweeper sweeps, and that no other one does for long.
//
// Each sweeper has a row whose count goes up, three times a lease. Who sees a count stand still for a whole
// lease, by its own clock, holds its sweeper for dead and takes its shards: so nobody's clock has to be
// right. A sweeper that could not make itself heard for a lease stops by itself (`valid`). Between the two a
// shard may have two sweepers; docs/sweep.md says why that deletes nothing twice and nothing early.
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
#include "engine/clock.h"
#include "engine/mutex.h"

namespace mayfly::sweep {

struct Held {
  int shard = 0;
  std::int64_t generation = 0;
  std::int64_t watermark = 0;  // as it was when the shard was taken
};

struct LeaseOptions {
  std::string me;  // unlike any other sweeper's, also than that of a former run of this one
  std::chrono::milliseconds lease{3000};
  int shards = 16;
  bool alone = false;  // takes all that is to be had, whoever else is there: for one pass
};

// What a sweeper saw of another's count, and when it saw it change last, by its own clock.
struct Beat {
  std::int64_t count = 0;
  engine::RealTime changed{};
};

// What is to be done about the rows that were read. Pure.
struct LeaseChanges {
  std::vector<int> take, release;
  std::vector<std::string> dead;  // whose shards may be taken
  std::size_t sweepers = 1;       // alive, this one among them
};
LeaseChanges lease_changes(const StateRows& rows, const std::map<std::string, Beat>& beats,
                           const LeaseOptions& options, engine::RealTime now);

// Thread-safe; one thread renews.
class Leases {
 public:
  Leases(State& state, LeaseOptions options) : state_(state), options_(std::move(options)) {}

  struct Renewed {
    std::vector<int> taken, released, lost;
    std::size_t sweepers = 1;
  };
  // `first_watermark`: of shards that nobody ever swept.
  Expected<Renewed, aws::Failure> renew(std::int64_t first_watermark) EXCLUDES(mutex_);
  // For a dry run: has all shards from here on, as far as `rows` say that they are, and tells nobody.
  void assume(const std::map<int, ShardRow>& rows, std::int64_t first_watermark) EXCLUDES(mutex_);
  // Gives all of it back, so that another need not wait.
  void end() EXCLUDES(mutex_);

  [[nodiscard]] std::vector<Held> held() const EXCLUDES(mutex_);  // none while it is not valid
  [[nodiscard]] bool valid() const EXCLUDES(mutex_);
  [[nodiscard]] const std::string& me() const { return options_.me; }

 private:
  State& state_;
  const LeaseOptions options_;
  std::map<std::string, Beat> beats_;  // of the others; the renewing thread's alone
  std::int64_t count_ = 0;
  mutable engine::Mutex mutex_;
  std::map<int, Held> held_ GUARDED_BY(mutex_);
  engine::RealTime valid_until_ GUARDED_BY(mutex_){};
};

}  // namespace mayfly::sweep
