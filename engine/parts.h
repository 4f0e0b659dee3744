// The parts of a Database, in the order in which they are built. Internal to engine/ and its tests.
#pragma once

#include <memory>
#include <optional>

#include "engine/account.h"
#include "engine/before_images.h"
#include "engine/catalog.h"
#include "engine/change_log.h"
#include "engine/clock.h"
#include "engine/committer.h"
#include "engine/database.h"
#include "engine/documents.h"
#include "engine/expiry_index.h"
#include "engine/failpoints.h"
#include "engine/lock_table.h"
#include "engine/points.h"
#include "engine/random.h"
#include "engine/recent_writes.h"
#include "engine/region_claims.h"
#include "engine/request_tokens.h"
#include "engine/storage.h"
#include "engine/watermark.h"

namespace mayfly::engine {

class History;
class HistoryTrimmer;
class IndexBackfill;
class Reaper;
class Replication;
class Snapshots;
class StreamTrimmer;
class TimeTravel;

struct Database::Parts {
  Parts(DatabaseOptions options, std::unique_ptr<Storage> storage);
  ~Parts();

  Storage& storage() { return *storage_; }

  DatabaseOptions options;
  std::unique_ptr<Storage> storage_;
  std::shared_ptr<Clock> host_clock;
  std::shared_ptr<Random> random;
  std::shared_ptr<Scheduler> scheduler;  // ended before the parts that its tasks use
  Accounts accounts;
  BeforeImages before_images;
  Points points;
  Watermark watermark;
  Catalog catalog;
  Committer committer;
  RecentWrites recent_writes;
  ChangeLog change_log;
  ExpiryIndex expiry;
  RequestTokens tokens;
  Documents documents;
  LockTable locks;
  Failpoints failpoints;
  RegionClaims region_claims;
  std::unique_ptr<IndexBackfill> backfill;
  std::unique_ptr<Reaper> reaper;
  std::unique_ptr<StreamTrimmer> trimmer;
  std::unique_ptr<HistoryTrimmer> history_trimmer;
  std::unique_ptr<History> history;
  std::unique_ptr<Replication> replication;
  std::unique_ptr<TimeTravel> time_travel;
  std::unique_ptr<Snapshots> snapshots;
};

}  // namespace mayfly::engine
