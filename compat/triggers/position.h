// Stores how far a lane has advanced in its shard. The position is stored after each finished batch, so that
// a restart continues there.
//
//   document "@trigger-position" / "REGION/UUID/start"              in the account's state
//   {"next":4700}
//   document "@trigger-position" / "REGION/UUID/SHARD/LANE-LANES"   in the account's state
//   {"next":4712,"done":false,"window":{"start":1700000000000,"state":{…}}}
//
// The start is stored with the mapping. A lane's position is first stored after the lane's first batch, so a
// shard without records for the mapping has no stored position. A mapping that an earlier version of Mayfly
// stored has no start, but has positions in all shards that its stream had.
//
// When the number of lanes changes, the positions of the earlier lanes remain stored and valid. A record is
// done if, under at least one of these numbers of lanes, the lane that is responsible for the record has
// passed it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compat/lambda/event_source_mapping.h"
#include "compat/lambda/lambda_event.h"
#include "engine/storage/documents.h"
#include "engine/tables/change_log.h"

namespace mayfly::compat::triggers {

// The lanes of a shard divide its records by item key; the mapping's parallelization is the number of lanes.
struct LaneName {
  std::uint32_t shard = 0;
  std::uint32_t lane = 0, lanes = 1;
  friend auto operator<=>(const LaneName&, const LaneName&) = default;
};

struct Position {
  engine::Sequence next = 0;     // the first record that is not done
  bool done = false;             // the shard has ended, and this lane has finished it
  std::optional<Window> window;  // the open window
};

struct StoredPosition {
  LaneName lane;
  Position position;
};

// All stored positions of a mapping.
struct StoredProgress {
  std::optional<engine::Sequence> start;  // no earlier record is delivered
  std::vector<StoredPosition> lanes;
  [[nodiscard]] bool empty() const { return !start && lanes.empty(); }
};

// Where a shard's lanes begin, given all stored positions in the shard.
struct ShardStart {
  std::vector<Position> lanes;
  std::vector<StoredPosition> others;  // positions from other lane counts that are ahead of `lanes`
  bool done = false;                   // nothing is left to do
};
// `lanes` is the current number of lanes. `closed` means that the shard is known to be closed. A stored end
// is ignored if a restore has reopened the shard.
ShardStart shard_start(const std::vector<StoredPosition>& stored, std::uint32_t lanes, bool closed);
// Whether one of the positions has passed a record whose keys have this hash.
bool passed(const std::vector<StoredPosition>& positions, std::uint64_t keys_hash, engine::Sequence sequence);

engine::Document to_document(const EventSourceMapping& mapping, const LaneName& lane,
                             const Position& position);
engine::Document start_document(const EventSourceMapping& mapping, engine::Sequence start);
StoredProgress stored_progress(const engine::Documents& documents, const EventSourceMapping& mapping);
// Returns the names of all stored positions of a mapping, or of one of its shards.
std::vector<engine::DocumentName> position_names(const engine::Documents& documents,
                                                 const EventSourceMapping& mapping,
                                                 std::optional<std::uint32_t> shard = std::nullopt);
// Returns all stored positions of an account, with the UUIDs of their mappings.
std::vector<std::pair<engine::DocumentName, std::string>> position_owners(const engine::Documents& documents,
                                                                          std::string_view account);

}  // namespace mayfly::compat::triggers
