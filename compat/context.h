// Everything that an operation needs in addition to its request: the database and services, the server's
// options and limits, the caller's scope, and the settings of this one request.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

#include "compat/wire/frame.h"
#include "engine/database.h"

namespace mayfly::compat {

class TableChanges;
namespace backups {
class Backups;
class Restores;
}  // namespace backups
namespace buckets {
class Buckets;
}
namespace jobs {
class Jobs;
}
namespace kinesis {
class Destinations;
}

// The parts of a Context that all requests share. An Emulator creates them once.
struct Services {
  engine::Database& database;
  TableChanges& table_changes;             // tables/changes.h
  kinesis::Destinations& kinesis;          // kinesis/destinations.h
  jobs::Jobs& jobs;                        // jobs/jobs.h
  const buckets::Buckets& buckets;         // buckets/buckets.h
  backups::Backups& backups;               // backups/backups.h
  backups::Restores& restores;             // backups/restores.h
  std::chrono::milliseconds ttl_cooldown;  // minimum time between two changes of a table's TimeToLive
  std::optional<std::size_t> collection_bytes_max;  // items/item_collections.h
  std::size_t tables_max;                           // per account and region
};

struct Context : Services {
  const engine::Scope& scope;
  std::string_view host;        // the Host header, such as "127.0.0.1:8000"; empty for in-process calls
  std::size_t unprocessed = 0;  // number of items at a batch's end to leave unprocessed (faults.h)
  // Returns how far the next eventually consistent read of a table lags (faults.h, items/sight.h). If the
  // function is empty, reads never lag.
  std::function<std::optional<engine::Lag>(std::string_view table)> lag;
  Frame frame = Frame::older;  // the request's frame, set by dispatch()

  // Returns the context for work that continues after the request is answered (jobs/work.h). Requires: `own`
  // outlives it.
  [[nodiscard]] Context for_job(const engine::Scope& own) const { return {*this, own}; }
  [[nodiscard]] engine::Instant now() const { return database.accounts().of(scope.account).now(); }
};

}  // namespace mayfly::compat
