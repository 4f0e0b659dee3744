// Selects which state of a table a read sees: the latest state, or a state that lags behind
// (recent_writes.h).
//
//   reader.get(*live, key, Sight{.lag = Lag{.writes = 2}});   // without the last two commits
//   reader.get(*live, key, Sight{});                          // the latest state; later reads see it too
//
// Without a Sight, a read sees the latest state and does not affect other reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mayfly::engine {

// How far a read may lag. If both members are set, both limits apply.
struct Lag {
  std::optional<std::uint64_t> writes;       // commits that changed the table
  std::optional<std::int64_t> milliseconds;  // by the account's clock
};

struct Sight {
  // The copy of the table that is read: the name of a global or vector index, or empty for the table itself,
  // which includes its local indexes. Each copy lags independently.
  std::string_view copy;
  std::optional<Lag> lag;  // nullopt: the read, and later reads of this copy, see all writes so far
};

}  // namespace mayfly::engine
