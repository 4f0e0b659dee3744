// How far a lane has come in its shard: stored after each batch that is done with, so that a restart goes on there.
//
//   document "trigger-position" / "REGION/UUID/SHARD/LANE-LANES"
//   {"next":4712,"done":false,"window":{"start":1700000000000,"state":{…}}}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compat/triggers/event_source_mapping.h"
#include "compat/triggers/lambda_event.h"
#include "engine/change_log.h"
#include "engine/documents.h"

namespace mayfly::compat::triggers {

// A shard's records are shared out among lanes by their items' keys: as many as the mapping's parallelization says.
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

engine::Document to_document(const EventSourceMapping& mapping, const LaneName& lane, const Position& position);
std::vector<StoredPosition> stored_positions(const engine::Documents& documents, const EventSourceMapping& mapping);
// The names of all that is stored of a mapping's positions.
std::vector<engine::DocumentName> position_names(const engine::Documents& documents, const EventSourceMapping& mapping);

}  // namespace mayfly::compat::triggers
