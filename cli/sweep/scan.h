// A scan of all items that have a TTL: where each stands, and for `backfill` where it is put.
//
//   placed    it will be looked at no later than its TTL says
//   missing   it is not in the index
//   late      it would be looked at only after its TTL: somebody shortened that and wrote it alone
//   passed    it lies in a window that is done, so that nobody looks at it any more
//   never     its TTL is no number, too far away, or over five years past: it does not expire
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cli/aws/client.h"
#include "cli/sweep/departure.h"
#include "cli/sweep/layout.h"
#include "cli/sweep/state.h"
#include "cli/sweep/workers.h"
#include "engine/clock.h"

namespace mayfly::sweep {

enum class Standing : std::uint8_t { placed, missing, late, passed, never };

// `watermark`: before which windows are done.
Standing standing_of(const Tree& item, const Layout& layout, std::int64_t watermark, engine::Instant now);
// The shard that an item is put into that is in none: always the same for the same key.
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
  int segments = 4;   // that are scanned at once
  bool arms = false;  // puts what is missing, late or passed where it belongs
  std::int64_t watermark = 0;
  engine::Instant now = 0;
};

// `state`: where it is written down how far each segment is, so that a scan that ended goes on; nothing: it
// is not. `progress` is called now and then, from whatever thread. The error is a sentence for people.
Expected<void, std::string> scan_table(aws::Client& client, const Layout& layout, Departures& departures,
                                       State* state, Workers& workers, const ScanOptions& options,
                                       const std::atomic<bool>& ended, ScanCounts& counts,
                                       const std::function<void()>& progress);

}  // namespace mayfly::sweep
