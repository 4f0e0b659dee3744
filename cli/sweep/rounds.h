// A round: all that is due by now in the shards that are held, window after window, second after second.
//
//   Rounds rounds(parts, options);
//   rounds.sweep()                 // once a second
//
// A window is looked at in each round from its beginning until some seconds after its end, since the index
// and writers lag behind: the last time as a whole, whatever its items' sort key says. When its grace is over
// that is done once more. If it is empty then, it is done, and the shard's watermark passes it. So a sweeper
// that takes a shard over, or comes back after a pause, begins at the watermark and misses nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cli/aws/client.h"
#include "cli/sweep/departure.h"
#include "cli/sweep/journal.h"
#include "cli/sweep/layout.h"
#include "cli/sweep/leases.h"
#include "cli/sweep/sweep_clock.h"
#include "cli/sweep/tally.h"
#include "cli/sweep/workers.h"
#include "compat/outbound/page_keys.h"
#include "engine/clock.h"
#include "engine/mutex.h"

namespace mayfly::sweep {

struct RoundOptions {
  std::int64_t settle_seconds = 10;  // how long after its end a window is still looked at in each round
  std::int64_t grace_seconds = 300;  // how long after its end it is looked at for the last time
  bool dry_run = false;              // no watermark is moved
};

// What rounds work with; all of it outlives them.
struct RoundParts {
  aws::Client& client;
  const Layout& layout;
  Departures& departures;
  State& state;
  Leases& leases;
  SweepClock& clock;
  Workers& workers;
  Tally& tally;
  Journal& journal;
  const std::atomic<bool>& ended;
};

class Rounds {
 public:
  Rounds(RoundParts parts, RoundOptions options) : parts_(parts), options_(options) {}

  struct Outcomes {
    std::uint64_t settled = 0;     // deleted, rearmed, lost or released
    std::uint64_t failed = 0;      // items, and windows of shards
    std::uint64_t unanswered = 0;  // of those: the endpoint did not answer what is in a window
    bool whole = false;            // nothing that is due by `now` is left in what is held
    engine::Instant now = 0;
  };
  Outcomes sweep();

 private:
  // A shard that is held, and how far it is.
  struct Cursor {
    int shard = 0;
    std::int64_t generation = 0;
    std::int64_t watermark = 0;  // all windows before it are done
    std::int64_t written = 0;    // the watermark that the state has
    std::int64_t next = 0;  // the first window, from the watermark on, that is still looked at in each round
  };
  // A window of one shard, while it is read.
  struct Lane {
    Cursor* cursor;
    std::deque<Entry> entries;
    std::string start;  // where the next page begins; JSON with a comma before it
    compat::outbound::PageKeys keys{};
    bool has_more = true, failed = false, unanswered = false, empty = true;
  };

  void follow_leases();
  // The first window from `from` on that this round has to look at. Nothing: no more.
  [[nodiscard]] std::optional<std::int64_t> next_window(const Cursor& cursor, std::int64_t from,
                                                        engine::Instant now) const;
  [[nodiscard]] bool is_over(std::int64_t window, std::int64_t seconds, engine::Instant now) const;
  void look_at(std::int64_t window, const std::vector<Cursor*>& cursors, engine::Instant now,
               Outcomes& outcomes);
  // False: the process is being ended, or the lease is over.
  bool drain(std::int64_t window, std::vector<Lane>& lanes, bool whole_window, engine::Instant now,
             Outcomes& outcomes);
  void read_page(std::int64_t window, Lane& lane, bool whole_window, engine::Instant now);
  void settle(std::vector<std::pair<Lane*, Entry>>& batch, engine::Instant now, Outcomes& outcomes);
  void write_watermarks(bool at_once);
  [[nodiscard]] bool goes_on() const;
  // Whether it was settled a moment ago: the index may show it still.
  bool was_settled(const Cursor& cursor, const Entry& entry);

  const RoundParts parts_;
  const RoundOptions options_;
  std::map<int, Cursor> cursors_;
  engine::RealTime watermarks_written_{};
  engine::RealTime now_read_{};  // when the clock was read by which the round goes on
  engine::Mutex mutex_;
  std::unordered_map<std::string, engine::RealTime> settled_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::sweep
