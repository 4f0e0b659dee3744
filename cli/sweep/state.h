// State that sweepers share and that outlives them: rows of a table at the same endpoint.
//
//   id                part           contents
//   carts/sweep       settings       window_seconds, shards, attribute names: all sweepers must agree on them
//   carts/sweep       shard#00007    watermark: windows before it are done; generation; owner (a sweeper)
//   carts/sweep       sweeper#…      beat: a counter that increases while the sweeper lives
//   carts/sweep       backfill#0/4   the progress of a parallel scan
//
// A row is changed only if it still has the contents that were read, so that only one of two competing
// sweepers succeeds. Everything that a shard's owner writes is conditional on the shard's generation, which
// increases whenever a sweeper takes the shard.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/aws/client.h"
#include "cli/sweep/layout.h"

namespace mayfly::sweep {

inline constexpr std::string_view state_table_default = "mayfly_sweep";

struct ShardRow {
  std::int64_t watermark = 0;
  std::int64_t generation = 0;  // 0: there is no row yet
  std::string owner;            // empty: no owner
};

struct StateRows {
  std::map<int, ShardRow> shards;
  std::map<std::string, std::int64_t> beats;  // by sweeper
};

// True if a conditional write was made, false if the row has changed since it was read.
using Written = Expected<bool, aws::Failure>;

class State {
 public:
  // `client` and `layout` must outlive this object.
  State(aws::Client& client, const Layout& layout, std::string table);

  [[nodiscard]] const std::string& table() const { return table_; }
  // Creates the table if it does not exist, and waits until it can be used.
  Expected<void, aws::Failure> create();

  // Writes the settings that all sweepers of the table must share, or compares them with those that another
  // sweeper wrote. A larger number of shards is accepted. The error is a human-readable sentence.
  Expected<void, std::string> agree_on_settings();

  Expected<StateRows, aws::Failure> read();
  // `row` is the shard's row as it was read. `first_watermark` is for a shard that has no row yet.
  Written take(int shard, const ShardRow& row, const std::string& owner, std::int64_t first_watermark);
  Written release(int shard, std::int64_t generation, const std::string& owner);
  Written advance(int shard, std::int64_t generation, std::int64_t watermark);
  Expected<void, aws::Failure> beat(const std::string& sweeper, std::int64_t count);
  // Removes the sweeper's row if its counter is still `beat`.
  Written forget(const std::string& sweeper, std::int64_t beat);

  struct ScanProgress {
    std::int64_t scanned = 0, armed = 0;
    std::string start_key;  // JSON; empty: from the beginning
    bool done = false;
  };
  Expected<std::optional<ScanProgress>, aws::Failure> read_progress(int segment, int segments);
  Expected<void, aws::Failure> write_progress(int segment, int segments, const ScanProgress& progress);
  Expected<void, aws::Failure> drop_progress(int segment, int segments);

 private:
  // `more`: members in addition to TableName and Key, each after a comma.
  Written update(const std::string& part, const std::string& more);
  [[nodiscard]] std::string head(const std::string& part) const;

  aws::Client& client_;
  const Layout& layout_;
  const std::string table_, id_;
};

}  // namespace mayfly::sweep
