// What sweepers have to know of each other, and after a pause: rows of a table of the same endpoint.
//
//   id                part           what
//   carts/sweep       settings       window_seconds, shards, and the attributes' names: what all must agree
//   on carts/sweep       shard#00007    watermark: windows before it are done; generation; owner (a sweeper)
//   carts/sweep       sweeper#…      beat: a count that goes up as long as the sweeper lives
//   carts/sweep       backfill#0/4   how far a parallel scan is
//
// A row is changed under a condition on what it was read as, so that of two who want the same one gets it;
// all that a shard's owner writes is conditional on its generation, which goes up whenever the shard is
// taken.
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
  std::string owner;            // empty: nobody's
};

struct StateRows {
  std::map<int, ShardRow> shards;
  std::map<std::string, std::int64_t> beats;  // by sweeper
};

// Whether a conditional write was made; false: the row is not what it was thought to be.
using Written = Expected<bool, aws::Failure>;

class State {
 public:
  // `client` and `layout` outlive it.
  State(aws::Client& client, const Layout& layout, std::string table);

  [[nodiscard]] const std::string& table() const { return table_; }
  // Creates the table where it is not there, and waits until it can be used.
  Expected<void, aws::Failure> create();

  // Writes down what all sweepers of the table must agree on, or holds it against what another wrote. The
  // error is a sentence for people. More shards than before are agreed to.
  Expected<void, std::string> agree_on_settings();

  Expected<StateRows, aws::Failure> read();
  // `row` is what was read; `first_watermark` is for a shard that has no row yet.
  Written take(int shard, const ShardRow& row, const std::string& owner, std::int64_t first_watermark);
  Written release(int shard, std::int64_t generation, const std::string& owner);
  Written advance(int shard, std::int64_t generation, std::int64_t watermark);
  Expected<void, aws::Failure> beat(const std::string& sweeper, std::int64_t count);
  Written forget(const std::string& sweeper, std::int64_t beat);  // if it has not beaten since

  struct ScanProgress {
    std::int64_t scanned = 0, armed = 0;
    std::string start_key;  // JSON; empty: from the beginning
    bool done = false;
  };
  Expected<std::optional<ScanProgress>, aws::Failure> read_progress(int segment, int segments);
  Expected<void, aws::Failure> write_progress(int segment, int segments, const ScanProgress& progress);
  Expected<void, aws::Failure> drop_progress(int segment, int segments);

 private:
  // `more`: members beside TableName and Key, each with a comma before it.
  Written update(const std::string& part, const std::string& more);
  [[nodiscard]] std::string head(const std::string& part) const;

  aws::Client& client_;
  const Layout& layout_;
  const std::string table_, id_;
};

}  // namespace mayfly::sweep
