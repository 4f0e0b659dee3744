#include "engine/database.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "engine/attempt.h"
#include "engine/departed.h"
#include "engine/failpoints.h"
#include "engine/history.h"
#include "engine/history_trimmer.h"
#include "engine/index_backfill.h"
#include "engine/key_space.h"
#include "engine/parts.h"
#include "engine/reaper.h"
#include "engine/replication.h"
#include "engine/snapshots.h"
#include "engine/stream_trimmer.h"
#include "engine/thread_local.h"
#include "engine/time_travel.h"

namespace mayfly::engine {
namespace {

constexpr std::size_t background_threads_max = 2;  // so the reaper never waits for backfills or trimming

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

std::int64_t total(const Deletions& deletions) {
  std::int64_t sum = 0;
  for (const auto& [name, count] : deletions) sum += count;
  return sum;
}

}  // namespace

Database::Parts::Parts(DatabaseOptions options_, std::unique_ptr<Storage> storage)
    : options(std::move(options_)),
      storage_(std::move(storage)),
      host_clock(options.clock ? options.clock : std::make_shared<SystemClock>()),
      random(options.random ? options.random : std::make_shared<SystemRandom>()),
      scheduler(options.make_scheduler(background_threads_max)),
      accounts(*storage_, *host_clock, options.account_clocks),
      before_images(*storage_),
      points(*storage_),
      catalog(*storage_, accounts, before_images, points, watermark, *random, options.stream_shards),
      committer(*storage_, watermark,
                std::max(ChangeLog::last_sequence(*storage_, catalog.streams()), points.last_number())),
      recent_writes(committer.feed()),
      change_log(*storage_, catalog, watermark),
      expiry(settled_window(*storage_, options.expiry_window_ms)),
      tokens(*storage_),
      documents(*storage_) {}

Database::Parts::~Parts() = default;

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
  parts_->reaper = std::make_unique<Reaper>(*this, parts_->scheduler);
  parts_->trimmer = std::make_unique<StreamTrimmer>(*this, parts_->scheduler);
  parts_->backfill = std::make_unique<IndexBackfill>(*this, parts_->scheduler);
  parts_->history_trimmer = std::make_unique<HistoryTrimmer>(*this, parts_->scheduler);
  parts_->history = std::make_unique<History>(*this);
  parts_->replication = std::make_unique<Replication>(*this, parts_->scheduler);
  parts_->time_travel =
      std::make_unique<TimeTravel>(*this, *parts_->reaper, *parts_->trimmer, *parts_->history_trimmer);
  parts_->snapshots = std::make_unique<Snapshots>(*this);
  if (parts_->options.reap) {
    if (!parts_->scheduler->start())
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    parts_->reaper->start();
    parts_->trimmer->start();
    parts_->history_trimmer->start();
    parts_->replication->start();
  }
  for (const std::shared_ptr<LiveTable>& table : parts_->catalog.tables()) {
    const std::shared_ptr<const Table> description = table->description();
    if (description->ttl)
      table->account().timers().look_now(table->id());  // the first sweep finds what is due
    if (BackfillWalk::needed(*description)) parts_->backfill->start(table, *description, 0);
  }
}

Database::~Database() {
  parts_->reaper->stop();
  parts_->scheduler->end();  // its tasks use all other parts
}

bool Database::watched() const { return static_cast<bool>(parts_->options.notice); }

void Database::notice(std::string_view sentence) const {
  if (watched()) parts_->options.notice(sentence);
}

// --- time

Instant Database::now(std::string_view account) const { return parts_->accounts.of(account).clock().now(); }

Instant Database::stream_now(std::string_view account) const {
  return parts_->accounts.of(account).stream_now();
}

ClockSetting Database::clock_setting(std::string_view account) const {
  return parts_->accounts.of(account).clock().setting();
}

Advanced Database::advance(std::string_view account, Instant to, bool age_streams,
                           const std::stop_token& stop) {
  return parts_->time_travel->advance(parts_->accounts.of(account), to, age_streams, stop);
}

Expected<Advanced, ClockRefusal> Database::advance_by(std::string_view account, std::chrono::milliseconds by,
                                                      bool age_streams, const std::stop_token& stop) {
  return parts_->time_travel->advance_by(parts_->accounts.of(account), by, age_streams, stop);
}

Advanced Database::advance_to_next_expiry(std::string_view account, bool age_streams,
                                          const std::stop_token& stop) {
  return parts_->time_travel->advance_to_next_expiry(parts_->accounts.of(account), age_streams, stop);
}

Expected<Advanced, ClockRefusal> Database::set_clock(std::string_view account, ClockSetting setting,
                                                     std::optional<Instant> now, bool age_streams,
                                                     const std::stop_token& stop) {
  return parts_->time_travel->set(parts_->accounts.of(account), setting, now, age_streams, stop);
}

std::optional<Instant> Database::next_expiry(std::string_view account) {
  return parts_->reaper->next_expiry(parts_->accounts.of(account).take_turn());
}

std::optional<std::chrono::nanoseconds> Database::real_time_until(std::string_view account,
                                                                  Instant instant) const {
  return parts_->accounts.of(account).clock().real_time_until(instant);
}

void Database::listen_to_clocks(const void* owner, std::function<void(std::string_view account)> listener) {
  parts_->time_travel->listen(owner, std::move(listener));
}

std::int64_t Database::reap_due() {
  Deletions deletions;
  for (Account* account : parts_->accounts.all()) {
    const Account::Turn turn = account->take_turn();
    Reaper::Sweeps sweeps;
    parts_->reaper->sweep_account(turn, account->clock().now(), sweeps, deletions);
  }
  return total(deletions);
}

std::int64_t Database::sweep(const std::shared_ptr<LiveTable>& table, const std::stop_token& stop) {
  Account& account = table->account();
  Deletions deletions;
  const Account::Turn turn = account.take_turn();
  parts_->reaper->sweep_table(turn, table, account.clock().now(), deletions, stop);
  return total(deletions);
}

// --- a whole account

std::shared_lock<Gate> Database::begin_request(std::string_view account) const {
  return std::shared_lock(parts_->accounts.of(account).requests());
}

bool Database::syncs() const { return parts_->storage().syncs(); }

SnapshotId Database::take_snapshot(std::string_view account) { return *take_snapshot(account, no_limit); }

std::optional<SnapshotId> Database::take_snapshot(std::string_view account, std::size_t snapshots_max) {
  return parts_->snapshots->take(parts_->accounts.of(account), snapshots_max);
}

std::vector<SnapshotId> Database::list_snapshots(std::string_view account) const {
  return parts_->snapshots->list(parts_->accounts.of(account));
}

bool Database::restore_snapshot(std::string_view account, SnapshotId id) {
  return parts_->snapshots->restore(parts_->accounts.of(account), id);
}

bool Database::drop_snapshot(std::string_view account, SnapshotId id) {
  return parts_->snapshots->drop(parts_->accounts.of(account), id);
}

void Database::reset(std::string_view account) { parts_->snapshots->reset(parts_->accounts.of(account)); }

// --- tables

std::shared_ptr<LiveTable> Database::create_table(Table table, std::size_t tables_max) {
  table.expiry = parts_->options.expiry;
  std::shared_ptr<LiveTable> made = parts_->catalog.create(std::move(table), tables_max);
  if (made && made->description()->stream) parts_->trimmer->stream_made(made->account());
  return made;
}

std::shared_ptr<LiveTable> Database::find_table(const Scope& scope, std::string_view name) const {
  return parts_->catalog.find(scope, name);
}

std::vector<std::string> Database::list_tables(const Scope& scope, std::string_view start_after,
                                               std::size_t limit) const {
  return parts_->catalog.names(scope, start_after, limit);
}

namespace {

bool expires_alike(const Table& one, const Table& other) {
  if (one.expiry != other.expiry || one.ttl.has_value() != other.ttl.has_value()) return false;
  return !one.ttl || one.ttl->number == other.ttl->number;
}

// Items that expired under the old rule would become visible again, under the new rule, to a read that lags.
// Requires: no thread writes, and no read uses the new rule yet.
void change_expiry(RecentWrites& recent, const Table& before, const Table& after) {
  if (!expires_alike(before, after)) recent.forget(after.id);
}

}  // namespace

std::shared_ptr<const Table> Database::update_table(const std::shared_ptr<LiveTable>& table,
                                                    const std::function<void(Table&)>& change) {
  const std::shared_ptr<const Table> before = table->description();
  const std::shared_ptr<const Table> after = parts_->catalog.update(*table, [&](Table& edited) {
    const Table was = edited;
    change(edited);
    change_expiry(parts_->recent_writes, was, edited);
  });
  if (!after) return nullptr;
  changed(table, *before, *after);
  return table->description();
}

// Starts the backfills and the trimming that a change requires, and deletes the items that it made due.
void Database::changed(const std::shared_ptr<LiveTable>& table, const Table& before, const Table& after) {
  if (after.stream && (!before.stream || before.stream->id != after.stream->id))
    parts_->trimmer->stream_made(table->account());
  if (BackfillWalk::needed_since(before, after))
    parts_->backfill->start(table, after, parts_->options.backfill_at_once_max);
  // Items that the change made due are deleted before it returns, up to a limit. So the change is complete
  // even on a frozen clock.
  const bool makes_due =
      after.ttl && (!before.ttl || before.ttl->number != after.ttl->number || before.expiry != after.expiry);
  if (makes_due) {
    if (const auto turn = table->account().try_turn()) {
      attempt([&] { parts_->reaper->sweep_some(*turn, table->id(), parts_->options.backfill_at_once_max); },
              [](std::string_view) {
                // The reaper tries again.
              });
    }
  }
}

bool Database::hold_table(const std::shared_ptr<LiveTable>& table, const std::function<void()>& look) {
  return parts_->catalog.hold(*table, look);
}

bool Database::drop_table(const std::shared_ptr<LiveTable>& table) {
  return parts_->history->drop_table(table, nullptr);
}

Expected<Catalog::Together, Catalog::Refusal> Database::update_together(
    const std::shared_ptr<LiveTable>& table, const Catalog::ChangeTogether& change, std::size_t tables_max,
    Catalog::Leaving leaving, const Catalog::Describe& describe) {
  const auto change_all = [&](std::vector<Table>& tables) {
    const std::vector<Table> before = tables;
    if (!change(tables)) return false;
    for (const Table& was : before)
      for (const Table& is : tables)
        if (is.id == was.id) change_expiry(parts_->recent_writes, was, is);
    return true;
  };
  TRY(Catalog::Together together,
      parts_->catalog.update_together(*table, change_all, tables_max, leaving, describe));
  for (const auto& dropped : together.dropped) {
    dropped->account().timers().forget(dropped->id());
    parts_->failpoints.forget(*dropped);
    parts_->recent_writes.forget(dropped->id());
    if (dropped->version_count().versions > 0) parts_->history_trimmer->less_needed(dropped->id());
  }
  const bool is_alone = together.tables.size() + together.dropped.size() == 1;
  if (!is_alone) parts_->replication->members_changed(table->account());
  for (std::size_t i = 0; i < together.tables.size(); ++i) {
    const std::shared_ptr<const Table> after = together.tables[i]->description();
    if (together.before[i]) {
      changed(together.tables[i], *together.before[i], *after);
      continue;
    }
    if (after->stream) parts_->trimmer->stream_made(together.tables[i]->account());
    parts_->replication->copy_some(together.tables[i], parts_->options.backfill_at_once_max);
  }
  return together;
}

Replication& Database::replication() const { return *parts_->replication; }

void Database::settle_replicas(std::string_view account, const std::stop_token& stop) {
  Account& of = parts_->accounts.of(account);
  const Sequence upto = parts_->watermark.published();
  for (bool more = true; more && !stop.stop_requested();) {
    const auto request = begin_request(account);
    more = parts_->replication->settle_some(of, upto);
  }
}

void Database::settle_replicas_in_request(std::string_view account) {
  parts_->replication->settle(parts_->accounts.of(account));
}

// --- items

std::optional<StoredItem> Database::get(const LiveTable& table, std::string_view key) const {
  THREAD_LOCAL std::string stored_key;
  stored_key.clear();
  append_item_key(stored_key, table.id(), 0, key);
  std::string bytes;
  bool departed = false;
  std::uint64_t described = 0;
  do {
    described = table.described();
    if (!parts_->storage().get(stored_key, bytes)) return std::nullopt;
    departed = table.expires() && Departed(*this, table).has(key, bytes);
  } while (table.described() != described);
  return departed ? std::nullopt : std::optional(StoredItem(std::move(bytes)));
}

std::optional<StoredItem> Database::get(const LiveTable& table, std::string_view key,
                                        const Sight& sight) const {
  RecentWrites& recent = parts_->recent_writes;
  if (!recent.any()) return get(table, key);
  const Commit horizon = recent.horizon(table, sight);
  interleave("horizon moved");
  std::optional<StoredItem> stored = get(table, key);
  interleave("item read");
  const auto unseen = recent.unseen(table, sight, horizon, key);
  if (!unseen) return stored;
  if (unseen->before.empty() || Departed(*this, table).has(key, unseen->before)) return std::nullopt;
  return StoredItem(unseen->before);
}

std::vector<std::optional<StoredItem>> Database::get_together(std::span<const ItemName> names) const {
  std::vector<std::optional<StoredItem>> items;
  items.reserve(names.size());
  if (names.empty()) return items;
  // All items are read from one state, with one description of each table, at one instant.
  const auto described = [&] {
    std::uint64_t sum = 0;  // each of them only increases
    for (const ItemName& name : names) sum += name.table->described();
    return sum;
  };
  std::uint64_t before = 0;
  do {
    items.clear();
    before = described();
    const Storage::Snapshot snapshot(parts_->storage());
    const Instant now = names.front().table->account().clock().now();
    for (const ItemName& name : names) {
      std::string bytes;
      const bool found = parts_->storage().get(item_key(name.table->id(), 0, name.key), bytes, &snapshot) &&
                         !Departed(*this, *name.table, now).has(name.key, bytes);
      items.push_back(found ? std::optional<StoredItem>(StoredItem(std::move(bytes))) : std::nullopt);
    }
  } while (described() != before);
  if (parts_->recent_writes.any()) {
    const LiveTable* last = nullptr;
    for (const ItemName& name : names)
      if (std::exchange(last, name.table) != name.table)
        static_cast<void>(parts_->recent_writes.unseen(*name.table, Sight{}, RecentWrites::sees_all));
  }
  return items;
}

// --- streams

std::vector<Stream> Database::list_streams(const Scope& scope) const {
  return parts_->catalog.streams(scope);
}

std::optional<Stream> Database::find_stream(const Scope& scope, std::string_view table_name,
                                            std::string_view label) const {
  return parts_->catalog.find_stream(scope, table_name, label);
}

std::shared_ptr<const Stream> Database::share_stream(StreamId stream) const {
  return parts_->catalog.share_stream(stream);
}

std::vector<ShardNumber> Database::shards_with_records(StreamId stream, Sequence from) const {
  return parts_->change_log.shards_with_records(stream, from);
}

StreamPage Database::read_stream(StreamId stream, ShardNumber shard, Sequence from, std::size_t limit,
                                 std::size_t bytes_max) const {
  return parts_->change_log.read(stream, shard, from, limit, bytes_max);
}

std::shared_ptr<Scheduler> Database::make_scheduler(std::size_t threads_max) const {
  return parts_->options.make_scheduler(threads_max);
}

Random& Database::random() const { return *parts_->random; }

Sequence Database::published() const { return parts_->watermark.published(); }

Sequence Database::told() const {
  Sequence sequence = 0;
  parts_->committer.feed().between_commits([&] { sequence = published(); });
  return sequence;
}

Sequence Database::oldest_sequence(StreamId stream, ShardNumber shard) const {
  const std::optional<Shard> found = parts_->catalog.find_shard(stream, shard);
  return found ? found->oldest_sequence : published() + 1;
}

Expected<std::vector<Shard>, ReshardRefusal> Database::reshard(const std::shared_ptr<LiveTable>& table,
                                                               std::optional<ShardNumber> shard,
                                                               Resharding how) {
  return parts_->catalog.reshard(*table, shard, how);
}

std::string Database::storage_failure() const { return parts_->storage().failure(); }

std::uint64_t Database::storage_faults() const { return parts_->storage().faults(); }

bool Database::has_room() const { return parts_->storage().has_room(); }

std::uint64_t Database::memory_bytes() const { return parts_->storage().footprint_bytes(); }

std::uint64_t Database::memory_bytes_max() const { return parts_->storage().memory_bytes_max(); }

Failpoints& Database::failpoints() const { return parts_->failpoints; }

RecentWrites& Database::recent_writes() const { return parts_->recent_writes; }

ChangeFeed::Subscription Database::subscribe(ChangeFeed::Listener listener) {
  return parts_->committer.feed().subscribe(std::move(listener));
}

Documents& Database::documents() const { return parts_->documents; }

History& Database::history() const { return *parts_->history; }

}  // namespace mayfly::engine
