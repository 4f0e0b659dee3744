// A committed change as await and the event stream report it: a stream record and the table's name.
#pragma once

#include <string>

#include "engine/schema/table.h"
#include "engine/tables/change_feed.h"
#include "engine/tables/change_log.h"

namespace mayfly::compat {

struct ToldChange {
  std::string table_name;
  engine::Stream stream;        // the table's stream; if it has none, a stream with both images
  engine::ChangeRecord record;  // sequence 0: not in a stream
};

// Requires: this thread is not running a listener of the change feed, because decoding takes too long for a
// commit.
ToldChange told(const engine::Change& change);

}  // namespace mayfly::compat
