// A round sweeps all items that are due in the held shards, window by window and second by second.
//
//   Rounds rounds(parts, options);
//   rounds.sweep()                 // once per second
//
// Because the index and writers lag behind, each round reads a window from the window's beginning until some
// seconds after its end (settle_seconds). The last of these reads covers the whole window and ignores the
// items' sort keys. After grace_seconds the window is read once more. If the window is then empty, it is
// done, and the shard's watermark moves past it. A sweeper that takes over a shard, or continues after a
// pause, starts at the watermark and so misses nothing.
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
#include "cli/base/workers.h"
#include "cli/sweep/departure.h"
#include "cli/sweep/journal.h"
#include "cli/sweep/layout.h"
#include "cli/sweep/leases.h"
#include "cli/sweep/sweep_clock.h"
#include "cli/sweep/tally.h"
#include "compat/outbound/page_keys.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"

namespace mayfly::sweep {

struct RoundOptions {
  std::int64_t settle_seconds = 10;  // after a window's end, how long each round still reads the window
  std::int64_t grace_seconds = 300;  // after a window's end, when the window is read for the last time
  bool dry_run = false;              // watermarks do not move
};

// The objects that rounds work with. All must outlive Rounds.
struct RoundParts {
  aws::Client& client;
  const Layout& layout;
  Departures& departures;
  State& state;
  Leases& leases;
  SweepClock& clock;
  cli::Workers& workers;
  Tally& tally;
  Journal& journal;
  const std::atomic<bool>& ended;
};

class Rounds {
 public:
  Rounds(RoundParts parts, RoundOptions options) : parts_(parts), options_(options) {}

  struct Outcomes {
    std::uint64_t settled = 0;     // deleted, rearmed, lost or released
    std::uint64_t failed = 0;      // failed items, plus windows of shards in which a read or an item failed
    std::uint64_t unanswered = 0;  // number of windows in `failed` that could not be read
    bool whole = false;            // nothing that is due by `now` is left in the held shards
    engine::Instant now = 0;
  };
  Outcomes sweep();

 private:
  // The progress in a held shard.
  struct Cursor {
    int shard = 0;
    std::int64_t generation = 0;
    std::int64_t watermark = 0;  // all windows before it are done
    std::int64_t written = 0;    // the watermark in the state table
    std::int64_t next = 0;       // the first window at or after the watermark that each round still reads
  };
  // One shard's part of a window while it is read.
  struct Reading {
    Cursor* cursor;
    std::deque<Entry> entries;
    std::string start;  // where the next page begins: JSON after a comma
    compat::outbound::PageKeys keys{};
    bool has_more = true, failed = false, unanswered = false, empty = true;
  };

  void follow_leases();
  // Returns the first window at or after `from` that this round must read, or nullopt if there is none.
  [[nodiscard]] std::optional<std::int64_t> next_window(const Cursor& cursor, std::int64_t from,
                                                        engine::Instant now) const;
  [[nodiscard]] bool is_over(std::int64_t window, std::int64_t seconds, engine::Instant now) const;
  void look_at(std::int64_t window, const std::vector<Cursor*>& cursors, engine::Instant now,
               Outcomes& outcomes);
  // Returns false if the process is ending or the lease has ended.
  bool drain(std::int64_t window, std::vector<Reading>& readings, bool whole_window, engine::Instant now,
             Outcomes& outcomes);
  void read_page(std::int64_t window, Reading& reading, bool whole_window, engine::Instant now);
  void settle(std::vector<std::pair<Reading*, Entry>>& batch, engine::Instant now, Outcomes& outcomes);
  void write_watermarks(bool at_once);
  [[nodiscard]] bool goes_on() const;
  // Whether the entry was settled a moment ago: the index may still show it.
  bool was_settled(const Cursor& cursor, const Entry& entry);

  const RoundParts parts_;
  const RoundOptions options_;
  std::map<int, Cursor> cursors_;
  engine::RealTime watermarks_written_{};
  engine::RealTime now_read_{};  // host time at which the round last read the sweep clock
  engine::Mutex mutex_;
  std::unordered_map<std::string, engine::RealTime> settled_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::sweep
