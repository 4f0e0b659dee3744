// `mayfly event dynamodb --from TABLE`: prints the event that an event source mapping would deliver for the
// newest changes of a table.
//
//   mayfly event dynamodb --from carts --limit 10 >event.json
#pragma once

#include <cstdint>
#include <string>

#include "cli/calls/server_calls.h"

namespace mayfly::cli {

inline constexpr std::int64_t event_records_max = 100;

struct EventCommand {
  ServerPlace server;
  std::string table;
  std::int64_t limit = 1;  // the number of records
};

// Prints {"Records":[…]} with the newest records of the table's stream, oldest first. If the stream has no
// records, or the table has no stream, makes INSERT records of the table's items and says so on stderr.
// Returns the exit code: 0, or 1 with a sentence on stderr.
int run_event_command(const EventCommand& command);

}  // namespace mayfly::cli
