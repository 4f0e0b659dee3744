// A committed change as await and the stream of events show it: a stream record, and its table's name.
#pragma once

#include <string>

#include "engine/change_feed.h"
#include "engine/change_log.h"
#include "engine/table.h"

namespace mayfly::compat {

struct ToldChange {
  std::string table_name;
  engine::Stream stream;  // the table's; of a table without one, what a stream with both images would be
  engine::ChangeRecord record;  // sequence 0: in no stream
};

// Requires: no listener of the change feed is running on this thread; decoding takes too long for a commit.
ToldChange told(const engine::Change& change);

}  // namespace mayfly::compat
