// Which state of a table a read sees: all that was written, or one that lags behind (recent_writes.h).
//
//   database.get(*live, key, Sight{.lag = Lag{.writes = 2}});   // without the last two commits
//   database.get(*live, key, Sight{});                          // all, and so does who reads after it
//
// A read that is given no Sight sees all, and leaves it to others what they see.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mayfly::engine {

// How far behind: at most as far as each of the two says that is there.
struct Lag {
  std::optional<std::uint64_t> writes;       // commits that changed the table
  std::optional<std::int64_t> milliseconds;  // by the account's clock
};

struct Sight {
  // Of which copy of the table. Empty: its own, which local indexes are part of. Else that of the global or
  // vector index of this name: each is behind by itself.
  std::string_view copy;
  std::optional<Lag> lag;  // nothing: it sees all, and from now on so does who reads this copy
};

}  // namespace mayfly::engine
