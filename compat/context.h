// Who asks, and whom: an operation's way to everything that is not in its request.
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
  std::string_view host;        // as the client named us: "127.0.0.1:8000"; empty in process
  std::size_t unprocessed = 0;  // items of a batch's end that shall be left undone: faults.h
  // How far behind its next eventually consistent read of a table is: faults.h, items/sight.h. Empty: not at
  // all.
  std::function<std::optional<engine::Lag>(std::string_view table)> lag;
  std::chrono::milliseconds ttl_cooldown{0};        // between two changes of a table's TimeToLive
  std::optional<std::size_t> collection_bytes_max;  // items/item_collections.h
  std::size_t tables_max = 0;                       // of the account in the region
  std::uint64_t steps = 0;                          // of its expressions so far: items/write_item.h
  Frame frame = Frame::older;                       // the request's

  // The same for what goes on when the request is answered (jobs/work.h). Requires: `own` outlives it.
  [[nodiscard]] Context for_job(const engine::Scope& own) const {
    Context context{database, table_changes, kinesis, jobs, buckets, backups, restores, own, {}};
    context.collection_bytes_max = collection_bytes_max;
    context.tables_max = tables_max;
    return context;
  }
  [[nodiscard]] engine::Instant now() const { return database.now(scope.account); }
};

}  // namespace mayfly::compat
