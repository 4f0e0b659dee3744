// Everything that an operation needs in addition to its request: the database and services, the caller's
// scope, and the options and limits that apply to this request.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
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

struct Context {
  engine::Database& database;
  TableChanges& table_changes;      // tables/changes.h
  kinesis::Destinations& kinesis;   // kinesis/destinations.h
  jobs::Jobs& jobs;                 // jobs/jobs.h
  const buckets::Buckets& buckets;  // buckets/buckets.h
  backups::Backups& backups;        // backups/backups.h
  backups::Restores& restores;      // backups/restores.h
  const engine::Scope& scope;
  std::string_view host;        // as the client addressed the server: "127.0.0.1:8000"; empty in process
  std::size_t unprocessed = 0;  // how many items at a batch's end to leave unprocessed: faults.h
  // How far behind the next eventually consistent read of a table is: faults.h, items/sight.h. Empty: never
  // behind.
  std::function<std::optional<engine::Lag>(std::string_view table)> lag;
  std::chrono::milliseconds ttl_cooldown{0};        // between two changes of a table's TimeToLive
  std::optional<std::size_t> collection_bytes_max;  // items/item_collections.h
  std::size_t tables_max = 0;                       // per account and region
  std::uint64_t steps = 0;                          // spent by its expressions so far: items/write_item.h
  Frame frame = Frame::older;                       // the request's

  // Returns the context for work that continues after the request is answered (jobs/work.h). Requires: `own`
  // outlives it.
  [[nodiscard]] Context for_job(const engine::Scope& own) const {
    Context context{database, table_changes, kinesis, jobs, buckets, backups, restores, own, {}};
    context.collection_bytes_max = collection_bytes_max;
    context.tables_max = tables_max;
    return context;
  }
  [[nodiscard]] engine::Instant now() const { return database.accounts().of(scope.account).now(); }
};

}  // namespace mayfly::compat
