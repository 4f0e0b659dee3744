#include "engine/database.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "engine/background/history.h"
#include "engine/background/history_size.h"
#include "engine/background/history_trimmer.h"
#include "engine/background/index_backfill.h"
#include "engine/background/reaper.h"
#include "engine/background/replication.h"
#include "engine/background/snapshot_heads.h"
#include "engine/background/snapshots.h"
#include "engine/background/stream_trimmer.h"
#include "engine/base/watermark.h"
#include "engine/items/expiry_view.h"
#include "engine/items/failpoints.h"
#include "engine/items/recent_writes.h"
#include "engine/items/request_tokens.h"
#include "engine/storage/before_images.h"
#include "engine/storage/documents.h"
#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"
#include "engine/tables/committer.h"
#include "engine/tables/lock_table.h"
#include "engine/tables/points.h"
#include "engine/tables/region_claims.h"

namespace mayfly::engine {
namespace {

constexpr std::size_t background_threads_max = 2;  // so that the reaper never waits for backfills or trimming

std::int64_t settled_window(Storage& storage, std::int64_t asked_ms) {
  if (std::string value; storage.get(expiry_window_key, value)) {
    if (value.size() != sizeof(std::int64_t))
      throw StorageFault("the window length of the expiry index cannot be decoded");
    return read_little_endian<std::int64_t>(value);
  }
  std::string value;
  append_little_endian(value, asked_ms);
  Batch batch;
  batch.put(expiry_window_key, value);
  storage.write(batch);
  return asked_ms;
}

DatabaseOptions with_defaults(DatabaseOptions options) {
  if (!options.clock) options.clock = std::make_shared<SystemClock>();
  if (!options.random) options.random = std::make_shared<SystemRandom>();
  return options;
}

}  // namespace

// The members are in construction order: each member uses only the members above it.
struct Database::Parts {
  Parts(DatabaseOptions given, std::unique_ptr<Storage> opened)
      : options(with_defaults(std::move(given))), storage(std::move(opened)) {}

  const DatabaseOptions options;
  const std::unique_ptr<Storage> storage;
  const std::shared_ptr<Scheduler> scheduler = options.make_scheduler(background_threads_max);

  // --- time and tables
  Accounts accounts{*storage, *options.clock, options.account_clocks};
  BeforeImages before_images{*storage};
  Points points{*storage};
  Watermark watermark;
  Catalog catalog{*storage,  accounts,        before_images,        points,
                  watermark, *options.random, options.stream_shards};
  Committer committer{*storage, watermark,
                      std::max(ChangeLog::last_sequence(*storage, catalog.streams()), points.last_number())};
  ChangeLog change_log{*storage, catalog, watermark};
  Documents documents{*storage};

  // --- items
  RecentWrites recent_writes{committer.feed()};
  ExpiryIndex expiry{settled_window(*storage, options.expiry_window_ms)};
  ExpiryView expiries{*storage, expiry};
  RequestTokens tokens{*storage};
  LockTable locks;
  Failpoints failpoints;
  RegionClaims region_claims;
  ItemReader reader{*storage, recent_writes, failpoints};
  const WritePath path{
      .storage = *storage,
      .catalog = catalog,
      .committer = committer,
      .before_images = before_images,
      .expiry = expiry,
      .tokens = tokens,
      .locks = locks,
      .failpoints = failpoints,
      .region_claims = region_claims,
      // These two functions use background tasks that are declared below. No transaction begins before all of
      // them are constructed.
      .versions_written = [this](std::size_t bytes) { history_trimmer.written(bytes); },
      .sent_to_replicas = [this](Account& account) { replication.wake(account); },
      .never_expires = options.never_expires,
  };

  // --- background tasks, and the parts that start them
  Reaper reaper{{.accounts = accounts,
                 .catalog = catalog,
                 .storage = *storage,
                 .expiry = expiry,
                 .failpoints = failpoints,
                 .path = path,
                 .notice = options.notice},
                scheduler};
  StreamTrimmer stream_trimmer{accounts, catalog, change_log, scheduler};
  IndexBackfill backfill{catalog, path, scheduler};
  SnapshotHeads snapshot_heads;
  HistorySize history_size{*storage, catalog, points, options.history_bytes_max};
  HistoryTrimmer history_trimmer{{.accounts = accounts,
                                  .catalog = catalog,
                                  .storage = *storage,
                                  .before_images = before_images,
                                  .points = points,
                                  .committer = committer,
                                  .snapshots = snapshot_heads,
                                  .size = history_size},
                                 scheduler};
  History history{*storage, catalog, points, snapshot_heads, history_trimmer};
  Replication replication{{.accounts = accounts,
                           .catalog = catalog,
                           .storage = *storage,
                           .watermark = watermark,
                           .documents = documents,
                           .recent_writes = recent_writes,
                           .stream_trimmer = stream_trimmer,
                           .path = path},
                          scheduler};
  TimeTravel time_travel{{.accounts = accounts,
                          .catalog = catalog,
                          .failpoints = failpoints,
                          .reaper = reaper,
                          .stream_trimmer = stream_trimmer,
                          .history_trimmer = history_trimmer,
                          .replication = replication}};
  TableLifecycle tables{{.catalog = catalog,
                         .recent_writes = recent_writes,
                         .failpoints = failpoints,
                         .backfill = backfill,
                         .reaper = reaper,
                         .stream_trimmer = stream_trimmer,
                         .history_trimmer = history_trimmer,
                         .replication = replication},
                        {.expiry = options.expiry, .at_once_max = options.backfill_at_once_max}};
  Snapshots snapshots{{.storage = *storage,
                       .accounts = accounts,
                       .catalog = catalog,
                       .before_images = before_images,
                       .points = points,
                       .watermark = watermark,
                       .heads = snapshot_heads,
                       .tokens = tokens,
                       .documents = documents,
                       .recent_writes = recent_writes,
                       .failpoints = failpoints,
                       .backfill = backfill,
                       .stream_trimmer = stream_trimmer,
                       .history_trimmer = history_trimmer,
                       .replication = replication}};
};

Expected<std::unique_ptr<Database>, std::string> Database::open(DatabaseOptions options) {
  TRY(auto storage, Storage::open({.directory = options.directory,
                                   .fsync = options.fsync,
                                   .report = options.report,
                                   .make_scheduler = options.make_scheduler,
                                   .env = options.env,
                                   .memory_bytes_max = options.memory_bytes_max,
                                   .is_process = options.is_process,
                                   .write_fails = options.write_fails}));
  try {
    auto parts = std::make_unique<Parts>(std::move(options), std::move(storage));
    std::unique_ptr<Database> database(new Database(std::move(parts)));
    return database;
  } catch (const StorageFault& fault) {
    return Unexpected{std::string("cannot read the data directory: ") + fault.what()};
  }
}

Database::Database(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {
  if (parts_->options.reap) {
    if (!parts_->scheduler->start())
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    parts_->reaper.start();
    parts_->stream_trimmer.start();
    parts_->history_trimmer.start();
    parts_->replication.start();
  }
  for (const std::shared_ptr<LiveTable>& table : parts_->catalog.tables()) {
    const std::shared_ptr<const Table> description = table->description();
    if (description->ttl)
      table->account().timers().look_now(table->id());  // the first sweep finds items that are already due
    if (BackfillWalk::needed(*description)) parts_->backfill.start(table, *description, 0);
  }
}

Database::~Database() {
  parts_->reaper.stop();
  parts_->scheduler->end();  // before the parts that its tasks use are destroyed
}

const DatabaseOptions& Database::options() const { return parts_->options; }
const StorageHealth& Database::health() const { return *parts_->storage; }
Accounts& Database::accounts() const { return parts_->accounts; }
TimeTravel& Database::time_travel() const { return parts_->time_travel; }
Snapshots& Database::snapshots() const { return parts_->snapshots; }
Documents& Database::documents() const { return parts_->documents; }
const Catalog& Database::catalog() const { return parts_->catalog; }
Catalog& Database::catalog_itself() const { return parts_->catalog; }
TableLifecycle& Database::tables() const { return parts_->tables; }
Replication& Database::replication() const { return parts_->replication; }
History& Database::history() const { return parts_->history; }
const HistorySize& Database::history_size() const { return parts_->history_size; }
const ItemReader& Database::reader() const { return parts_->reader; }
const WritePath& Database::write_path() const { return parts_->path; }
RecentWrites& Database::recent_writes() const { return parts_->recent_writes; }
Reaper& Database::reaper() const { return parts_->reaper; }
ExpiryView& Database::expiries() const { return parts_->expiries; }
Failpoints& Database::failpoints() const { return parts_->failpoints; }
const ChangeLog& Database::change_log() const { return parts_->change_log; }
ChangeFeed& Database::change_feed() const { return parts_->committer.feed(); }
const Watermark& Database::watermark() const { return parts_->watermark; }
Storage& Database::storage() const { return *parts_->storage; }
Points& Database::points() const { return parts_->points; }
BeforeImages& Database::before_images() const { return parts_->before_images; }
StreamTrimmer& Database::stream_trimmer() const { return parts_->stream_trimmer; }
HistoryTrimmer& Database::history_trimmer() const { return parts_->history_trimmer; }

}  // namespace mayfly::engine
