// One record per item write that changed something, of a table whose stream is enabled.
//
// A record gets its sequence number at commit, from one committer; `published()` is the watermark below
// which every record can be read and nothing will appear any more. Readers stop there, so none is skipped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/attribute_value.h"
#include "engine/clock.h"
#include "engine/table.h"

namespace mayfly::engine {

using Sequence = std::uint64_t;

// Who wrote: a user's request, or the service deleting what expired.
enum class Cause : std::uint8_t { user, time_to_live };

struct ChangeRecord {
  enum class Kind : std::uint8_t { insert, modify, remove };
  Sequence sequence = 0;
  Instant created = 0;
  Kind kind = Kind::insert;
  Cause cause = Cause::user;
  Item keys;
  std::optional<Item> old_image;  // stored as the stream's view asks
  std::optional<Item> new_image;
  std::uint64_t size_bytes = 0;   // size(keys) + size(new image) + size(old image)
};

}  // namespace mayfly::engine
