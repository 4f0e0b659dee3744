// How far a lane has come in its shard: stored after each batch that is done with, so that a restart goes on
// there.
//
//   document "@trigger-position" / "REGION/UUID/start"              of the account's state
//   {"next":4700}
//   document "@trigger-position" / "REGION/UUID/SHARD/LANE-LANES"   likewise
//   {"next":4712,"done":false,"window":{"start":1700000000000,"state":{…}}}
//
// The start is stored with the mapping, and a lane's position after its first batch: a shard without records
// for the mapping has none. A mapping of an earlier version has no start, but positions in all shards that
// its stream had.
//
// Where the number of lanes was changed, what the others have stored stays and counts: a record is done with
// if the lane that it fell to has passed it, of whichever number of lanes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compat/triggers/event_source_mapping.h"
#include "compat/triggers/lambda_event.h"
#include "engine/change_log.h"
#include "engine/documents.h"

namespace mayfly::compat::triggers {

// A shard's records are shared out among lanes by their items' keys: as many as the mapping's parallelization
// says.
struct LaneName {
  std::uint32_t shard = 0;
  std::uint32_t lane = 0, lanes = 1;
  friend auto operator<=>(const LaneName&, const LaneName&) = default;
};

struct Position {
  engine::Sequence next = 0;     // the first record that is not done with
  bool done = false;             // the shard has ended, and this lane with it
  std::optional<Window> window;  // that is open
};

struct StoredPosition {
  LaneName lane;
  Position position;
};

// All that is stored of how far a mapping has come.
struct StoredProgress {
  std::optional<engine::Sequence> start;  // no record before it is delivered
  std::vector<StoredPosition> lanes;
  [[nodiscard]] bool empty() const { return !start && lanes.empty(); }
};

// Where a shard's lanes begin, by all that is stored of the shard.
struct ShardStart {
  std::vector<Position> lanes;
  std::vector<StoredPosition> others;  // of other numbers of lanes, that say more than `lanes`
  bool done = false;                   // nothing is left to do
};
// `lanes`: how many there are now. `closed`: whether the shard is, as far as anybody remembers. An end that
// was stored counts for nothing if a restore opened the shard again.
ShardStart shard_start(const std::vector<StoredPosition>& stored, std::uint32_t lanes, bool closed);
// Whether one of them has passed a record whose keys have this hash.
bool passed(const std::vector<StoredPosition>& positions, std::uint64_t keys_hash, engine::Sequence sequence);

engine::Document to_document(const EventSourceMapping& mapping, const LaneName& lane,
                             const Position& position);
engine::Document start_document(const EventSourceMapping& mapping, engine::Sequence start);
StoredProgress stored_progress(const engine::Documents& documents, const EventSourceMapping& mapping);
// The names of all that is stored of a mapping's positions; of one shard's.
std::vector<engine::DocumentName> position_names(const engine::Documents& documents,
                                                 const EventSourceMapping& mapping,
                                                 std::optional<std::uint32_t> shard = std::nullopt);
// All that is stored of an account's, with the UUIDs of the mappings.
std::vector<std::pair<engine::DocumentName, std::string>> position_owners(const engine::Documents& documents,
                                                                          std::string_view account);

}  // namespace mayfly::compat::triggers
