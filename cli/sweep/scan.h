// Scans all items that have a TTL and checks where each item is in the index. `backfill` also corrects their
// places.
//
//   placed    the sweep will examine it no later than its TTL
//   missing   it is not in the index
//   late      the sweep would examine it after its TTL, because a writer set only the TTL to an earlier time
//   passed    it is in a window that is done, so the sweep would never examine it
//   never     it does not expire: its TTL is not a number, too far in the future, or over five years past
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cli/aws/client.h"
#include "cli/base/workers.h"
#include "cli/sweep/departure.h"
#include "cli/sweep/layout.h"
#include "cli/sweep/state.h"
#include "engine/base/clock.h"

namespace mayfly::sweep {

enum class Standing : std::uint8_t { placed, missing, late, passed, never };

// All windows before `watermark` are done.
Standing standing_of(const Tree& item, const Layout& layout, std::int64_t watermark, engine::Instant now);
// Returns the shard for an item that has no shard yet. The same key always gives the same shard.
int shard_of(std::string_view key, int shards);

struct ScanCounts {
  std::array<std::atomic<std::int64_t>, 5> standings{};
  std::atomic<std::int64_t> scanned{0}, expired{0}, within_a_month{0}, armed{0}, failed{0},
      half_read_units{0};

  [[nodiscard]] std::int64_t of(Standing standing) const {
    return standings[static_cast<std::size_t>(standing)];
  }
};

struct ScanOptions {
  int segments = 4;   // scanned at the same time
  bool arms = false;  // corrects the places of missing, late and passed items
  std::int64_t watermark = 0;
  engine::Instant now = 0;
};

// `state` stores the progress of each segment, so that an interrupted scan can continue; nullptr: progress is
// not stored. `progress` is called from time to time, on any thread. The error is a human-readable sentence.
Expected<void, std::string> scan_table(aws::Client& client, const Layout& layout, Departures& departures,
                                       State* state, cli::Workers& workers, const ScanOptions& options,
                                       const std::atomic<bool>& ended, ScanCounts& counts,
                                       const std::function<void()>& progress);

}  // namespace mayfly::sweep
