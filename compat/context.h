// Everything that an operation needs in addition to its request: the database and services, the options and
// limits of the server, the caller's scope, and what applies to this request alone.
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

// The same for all requests; made once.
struct Services {
  engine::Database& database;
  TableChanges& table_changes;                      // tables/changes.h
  kinesis::Destinations& kinesis;                   // kinesis/destinations.h
  jobs::Jobs& jobs;                                 // jobs/jobs.h
  const buckets::Buckets& buckets;                  // buckets/buckets.h
  backups::Backups& backups;                        // backups/backups.h
  backups::Restores& restores;                      // backups/restores.h
  std::chrono::milliseconds ttl_cooldown;           // between two changes of a table's TimeToLive
  std::optional<std::size_t> collection_bytes_max;  // items/item_collections.h
  std::size_t tables_max;                           // per account and region
};

struct Context : Services {
  const engine::Scope& scope;
  std::string_view host;        // as the client addressed the server: "127.0.0.1:8000"; empty in process
  std::size_t unprocessed = 0;  // how many items at a batch's end to leave unprocessed: faults.h
  // How far behind the next eventually consistent read of a table is: faults.h, items/sight.h. Empty: never
  // behind.
  std::function<std::optional<engine::Lag>(std::string_view table)> lag;
  Frame frame = Frame::older;  // of the request; dispatch sets it

  // Returns the context for work that continues after the request is answered (jobs/work.h). Requires: `own`
  // outlives it.
  [[nodiscard]] Context for_job(const engine::Scope& own) const { return {*this, own}; }
  [[nodiscard]] engine::Instant now() const { return database.accounts().of(scope.account).now(); }
};

}  // namespace mayfly::compat
