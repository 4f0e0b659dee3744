#include "engine/tables/catalog.h"

#include <algorithm>
#include <optional>
#include <set>
#include <shared_mutex>
#include <utility>

#include "engine/base/uuid.h"
#include "engine/storage/before_images.h"
#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"
#include "engine/tables/replica_log.h"
#include "engine/time/account.h"
#include "engine/values/item_codec.h"
#include "engine/values/key_codec.h"

namespace mayfly::engine {
namespace {

template <class Description>
void put_description(Batch& batch, char kind, std::uint32_t id, const Description& description) {
  batch.put(table_prefix(kind, id), encode_description(description));
}

void put_next_ids(Batch& batch, TableId table, StreamId stream) {
  std::string value;
  append_little_endian(value, table);
  append_little_endian(value, stream);
  batch.put(next_ids_key, value);
}

void put_last_sequence(Batch& batch, Sequence last) {
  std::string value;
  append_little_endian(value, last);
  batch.put(last_sequence_key, value);
}

// Sets the last sequence number of a closed shard to that of its last record.
// Requires: the table's gate is held exclusively, so that no thread writes to the shard any longer.
void end_with_last_record(const Storage& storage, StreamId stream, Shard& shard) {
  const std::string prefix = shard_prefix(stream, shard.number);
  Storage::Iterator iterator(storage, prefix, prefix_end(prefix));
  iterator.seek_to_last();
  shard.last_sequence = iterator.valid()
                            ? read_big_endian<std::uint64_t>(iterator.key().substr(prefix.size()))
                            : shard.oldest_sequence - 1;
}

void close_with_last_records(const Storage& storage, Stream& stream, Instant now, std::uint64_t published) {
  std::vector<ShardNumber> open;
  for (const Shard& shard : stream.shards)
    if (!shard.closed) open.push_back(shard.number);
  close(stream, now, published);
  for (Shard& shard : stream.shards)
    if (std::binary_search(open.begin(), open.end(), shard.number))
      end_with_last_record(storage, stream.id, shard);
}

// While an Erasing exists, readers wait, because the description still lists data that is being erased.
class Erasing {
 public:
  explicit Erasing(std::atomic<bool>& flag) : flag_(flag) { flag_ = true; }
  ~Erasing() { flag_ = false; }
  Erasing(const Erasing&) = delete;
  Erasing& operator=(const Erasing&) = delete;

 private:
  std::atomic<bool>& flag_;
};

bool has_index(const Table& table, IndexId id) {
  return std::any_of(table.indexes.begin(), table.indexes.end(),
                     [&](const Index& index) { return index.id == id; });
}

// Index ids are reused in rotation, so that the id of a removed index is reused as late as possible. The data
// of a removed index is erased when the index is removed.
IndexId give_index_id(Table& table, const Table& before) {
  for (;;) {
    const IndexId id =
        table.next_index_id <= last_index_id ? std::max(table.next_index_id, IndexId{1}) : IndexId{1};
    table.next_index_id = static_cast<IndexId>(id + 1);
    if (!has_index(table, id) && !has_index(before, id)) return id;
  }
}

// The maximum distance of a stream's label from the current time. It limits the number of streams that a
// table can get at one instant.
constexpr Instant label_search_ms_max = Instant{1} << 40;

std::string label_of(Instant instant) {
  std::string label = iso8601(instant);
  label.pop_back();  // AWS omits the Z
  return label;
}

}  // namespace

// --- a table

namespace {
bool may_expire(const Table& table) { return table.ttl && table.expiry.kind != ExpiryMode::Kind::manual; }

// The approximate memory outside storage that a table and each of its indexes need, as measured.
constexpr std::uint64_t bytes_per_table = 3500, bytes_per_index = 360;

std::uint64_t live_bytes(const Table& table) {
  return bytes_per_table + bytes_per_index * table.indexes.size();
}
}  // namespace

LiveTable::LiveTable(std::shared_ptr<const Table> table, Account& account, const Storage& storage)
    : id_(table->id),
      account_(account),
      description_(std::move(table)),
      held_(storage, live_bytes(*description_)),
      expires_(may_expire(*description_)) {}

void LiveTable::describe(std::shared_ptr<const Table> description) {
  const Lock lock(mutex_);
  held_.set(live_bytes(*description));
  description_ = std::move(description);
  expires_.store(may_expire(*description_), std::memory_order_release);
  described_.fetch_add(1, std::memory_order_acq_rel);
}

std::shared_ptr<const Table> LiveTable::description() const {
  const Lock lock(mutex_);
  return description_;
}

bool LiveTable::still_has(IndexId index) const {
  if (erasing_.load()) static_cast<void>(std::shared_lock(gate_));
  return !dropped() && (index == 0 || has_index(*description(), index));
}

Counter& LiveTable::counter(IndexId index) const {
  const Lock lock(mutex_);
  return counters_[index];
}

NeverCounts LiveTable::never_expiring_items() const {
  NeverCounts counts{};
  const Lock lock(mutex_);
  for (std::size_t i = 0; i < never_reasons.size(); ++i) {
    const auto counter = counters_.find(never_counter(never_reasons[i]));
    if (counter != counters_.end()) counts[i] = counter->second.items;
  }
  return counts;
}

void LiveTable::forget_never_expiring() {
  const Lock lock(mutex_);
  for (const NeverReason reason : never_reasons) {
    const auto counter = counters_.find(never_counter(reason));
    if (counter != counters_.end()) counter->second.items = 0;
  }
}

VersionCount LiveTable::version_count() const {
  const Lock lock(mutex_);
  const auto counter = counters_.find(old_versions);
  if (counter == counters_.end()) return {};
  return {counter->second.items, counter->second.bytes};
}

// --- lookups

Catalog::Catalog(Storage& storage, Accounts& accounts, BeforeImages& images, Points& points,
                 const Watermark& watermark, Random& random, std::uint32_t stream_shards)
    : storage_(storage),
      accounts_(accounts),
      images_(images),
      points_(points),
      watermark_(watermark),
      random_(random),
      stream_shards_(stream_shards) {
  load();
}

void Catalog::load() {
  if (std::string value; storage_.get(next_ids_key, value)) {
    if (value.size() != next_ids_bytes) throw StorageFault("the next ids cannot be decoded");
    next_table_ = read_little_endian<TableId>(value);
    next_stream_ = read_little_endian<StreamId>(std::string_view(value).substr(4));
  }
  for (const std::string_view key : {last_sequence_key, last_version_key})
    if (std::string value; storage_.get(key, value) && value.size() != sizeof(Sequence))
      throw StorageFault("the last sequence number cannot be decoded");
  Storage::Iterator streams(storage_, "R", "S");
  for (streams.seek_to_first(); streams.valid(); streams.next()) {
    streams_.put(decoded(decode_stream(streams.value()), "a stream's description"));
  }
  Storage::Iterator tables(storage_, "T", "U");
  for (tables.seek_to_first(); tables.valid(); tables.next()) {
    auto live = make_live(decoded(decode_table(tables.value()), "a table's description"));
    const auto table = live->description();
    by_id_[table->id] = live;
    tables_[Scope{table->account, table->region}][table->name] = std::move(live);
  }
  for (const TableId table : points_.tables())
    if (by_id_.count(table) == 0) leave_past(table);
}

void Catalog::leave_past(TableId table) const {
  VersionCount count;
  if (std::string value; storage_.get(counter_key(table, old_versions), value)) {
    if (value.size() != counter_bytes) throw StorageFault("a table's counter cannot be decoded");
    count = {read_little_endian<std::int64_t>(value),
             read_little_endian<std::int64_t>(std::string_view(value).substr(8))};
  }
  points_.leave(table, count);
}

std::shared_ptr<LiveTable> Catalog::make_live(Table table) {
  Account& account = accounts_.of(table.account);
  auto live = std::make_shared<LiveTable>(std::make_shared<const Table>(std::move(table)), account, storage_);
  const std::string prefix = table_prefix('N', live->id());
  Storage::Iterator counters(storage_, prefix, prefix_end(prefix));
  for (counters.seek_to_first(); counters.valid(); counters.next()) {
    if (counters.key().size() != prefix.size() + sizeof(IndexId) || counters.value().size() != counter_bytes)
      throw StorageFault("a table's counter cannot be decoded");
    Counter& counter = live->counter(read_big_endian<IndexId>(counters.key().substr(prefix.size())));
    counter.items = read_little_endian<std::int64_t>(counters.value());
    counter.bytes = read_little_endian<std::int64_t>(counters.value().substr(8));
  }
  settle_past(*live);
  return live;
}

std::shared_ptr<LiveTable> Catalog::find(const Scope& scope, std::string_view name) const {
  const SharedLock lock(mutex_);
  const auto names = tables_.find(scope);
  if (names == tables_.end()) return nullptr;
  const auto table = names->second.find(name);
  return table == names->second.end() ? nullptr : table->second;
}

std::shared_ptr<LiveTable> Catalog::find(TableId table) const {
  const SharedLock lock(mutex_);
  const auto found = by_id_.find(table);
  return found == by_id_.end() ? nullptr : found->second;
}

std::size_t Catalog::count(const Scope& scope) const {
  const Lock lock(mutex_);
  const auto known = tables_.find(scope);
  return known == tables_.end() ? 0 : known->second.size();
}

std::vector<std::string> Catalog::names(const Scope& scope, std::string_view start_after,
                                        std::size_t limit) const {
  std::vector<std::string> result;
  const SharedLock lock(mutex_);
  const auto names = tables_.find(scope);
  if (names == tables_.end()) return result;
  for (auto table = names->second.upper_bound(start_after);
       table != names->second.end() && result.size() < limit; ++table)
    result.push_back(table->first);
  return result;
}

std::vector<std::shared_ptr<LiveTable>> Catalog::tables() const {
  std::vector<std::shared_ptr<LiveTable>> result;
  const SharedLock lock(mutex_);
  for (const auto& [id, table] : by_id_) result.push_back(table);
  return result;
}

std::vector<std::shared_ptr<LiveTable>> Catalog::tables(std::string_view account) const {
  std::vector<std::shared_ptr<LiveTable>> result;
  {
    const SharedLock lock(mutex_);
    for (auto scope = tables_.lower_bound({std::string(account), {}});
         scope != tables_.end() && scope->first.account == account; ++scope)
      for (const auto& [name, table] : scope->second) result.push_back(table);
  }
  std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a->id() < b->id(); });
  return result;
}

// --- changes

struct Catalog::Making {
  Table table;
};

struct Catalog::Update {
  LiveTable* live;
  std::shared_ptr<const Table> old;
  Table table;  // the new description; moved away when it is published
  std::shared_ptr<const Table> description = nullptr;
  std::unique_ptr<Erasing> erasing = nullptr;
  std::vector<IndexId> given = {};
  bool ttl_erased = false;
  std::optional<Stream> closed = std::nullopt;
};

struct Catalog::Drop {
  LiveTable* live;
  std::unique_ptr<Erasing> erasing;
  std::optional<Stream> closed;
  std::optional<Point> last;
  bool has_points = false;
  VersionCount left;
};

Catalog::Making Catalog::stage_making(Table table, Batch& batch, NextIds& next) {
  table.id = next.table++;
  if (table.uuid.empty()) table.uuid = random_uuid(random_);
  table.recovery.reset();
  Account& account = accounts_.of(table.account);
  accounts_.save_first(account);
  table.created = account.clock().now();
  if (table.ttl) table.ttl->lists_never = true;
  for (Index& index : table.indexes) index.id = give_index_id(table, table);
  if (table.stream) {
    table.stream = make_stream(table, table.stream->view, next.stream++);
    table.latest_stream_label = table.stream->label;
  }
  put_description(batch, 'T', table.id, table);
  if (table.stream) put_description(batch, 'R', table.stream->id, *table.stream);
  return {std::move(table)};
}

std::shared_ptr<LiveTable> Catalog::settle(Making& making) {
  Account& account = accounts_.of(making.table.account);
  auto live =
      std::make_shared<LiveTable>(std::make_shared<const Table>(std::move(making.table)), account, storage_);
  const auto description = live->description();
  const Lock lock(mutex_);
  tables_[Scope{description->account, description->region}][description->name] = live;
  by_id_[description->id] = live;
  if (description->stream) streams_.put(*description->stream);
  return live;
}

std::shared_ptr<LiveTable> Catalog::create(Table table, std::size_t tables_max) {
  const Lock changing(changes_);
  const Scope scope{table.account, table.region};
  if (find(scope, table.name) || count(scope) >= tables_max) return nullptr;
  NextIds next{next_table_, next_stream_};
  Batch batch;
  Making making = stage_making(std::move(table), batch, next);
  put_next_ids(batch, next.table, next.stream);
  storage_.write(batch);

  next_table_ = next.table;
  next_stream_ = next.stream;
  auto live = settle(making);
  interleave("table made");
  return live;
}

Catalog::Update Catalog::stage_update(LiveTable& live, Table edited, Batch& batch, NextIds& next) {
  Update update{.live = &live, .old = live.description(), .table = std::move(edited)};
  Table& table = update.table;
  const Table& old = *update.old;
  const std::optional<Stream> old_stream = old.stream ? find_stream(old.stream->id) : std::nullopt;
  for (const Index& index : old.indexes) {
    if (has_index(table, index.id)) continue;
    if (!update.erasing) update.erasing = std::make_unique<Erasing>(live.erasing_);
    storage_.erase_prefix(batch, item_key(table.id, index.id, {}));
    batch.erase(counter_key(table.id, index.id));
  }
  for (Index& index : table.indexes) {
    if (index.id != 0) continue;
    index.id = give_index_id(table, old);
    index.state = Index::State::creating;
    update.given.push_back(index.id);
  }

  const bool same_ttl = table.ttl && old.ttl && table.ttl->attribute == old.ttl->attribute;
  if (old.ttl && !same_ttl) {
    storage_.erase_prefix(batch, table_prefix('X', table.id));
    batch.erase(counter_key(table.id, expiry_entries));
    for (const NeverReason reason : never_reasons) batch.erase(counter_key(table.id, never_counter(reason)));
    update.ttl_erased = true;
  }
  if (table.ttl && !same_ttl) {
    table.ttl->backfilling = true;
    table.ttl->number = table.next_ttl_number++;
    table.ttl->since = live.account().clock().now();
    table.ttl->lists_never = true;
  }
  // If TTL was switched on again with the same attribute, a backfill in progress continues.
  if (table.ttl && same_ttl && table.ttl->number != old.ttl->number) table.ttl = old.ttl;
  stage_leaving(old, table, batch);

  if (old_stream && (!table.stream || table.stream->id != old_stream->id)) {
    update.closed = old_stream;
    close_with_last_records(storage_, *update.closed, live.account().clock().now(), watermark_.published());
  }
  if (table.stream && (!old_stream || table.stream->id != old_stream->id)) {
    table.stream = make_stream(table, table.stream->view, next.stream++);
    table.latest_stream_label = table.stream->label;
  }
  put_description(batch, 'T', table.id, table);
  if (table.stream) put_description(batch, 'R', table.stream->id, *table.stream);
  if (update.closed) put_description(batch, 'R', update.closed->id, *update.closed);
  return update;
}

// Erases the writes in flight to removed replicas and, if no replica is left, the versions and tombstones.
// Items that would have expired in a removed replica may now expire here, so the expiry entries are rebuilt.
void Catalog::stage_leaving(const Table& old, Table& table, Batch& batch) const {
  bool any_left = false;
  for (const Replica& replica : old.replicas) {
    if (std::find(table.replicas.begin(), table.replicas.end(), replica) != table.replicas.end()) continue;
    storage_.erase_prefix(batch, departures_prefix(table.id, replica.table));
    std::erase(table.copies_from, replica.table);
    any_left = true;
  }
  if (!any_left) return;
  if (table.replicas.empty())
    for (const char kind : {'W', 'Y'}) storage_.erase_prefix(batch, table_prefix(kind, table.id));
  if (!table.ttl) return;
  table.ttl->backfilling = true;
  table.ttl->number = table.next_ttl_number++;
}

// Publishes all new descriptions before it does anything else, so that no reader sees one table changed and
// its replica unchanged.
void Catalog::settle(std::vector<Update>& updates) {
  for (Update& update : updates) {
    update.description = std::make_shared<const Table>(std::move(update.table));
    update.live->describe(update.description);
  }
  if (!updates.empty()) interleave("table changed");  // a test can switch threads here
  for (Update& update : updates) settle_described(update);
}

void Catalog::settle_described(Update& update) {
  LiveTable& live = *update.live;
  const std::shared_ptr<const Table>& description = update.description;
  settle_past(live);
  if (update.ttl_erased) {
    live.counter(expiry_entries).items = 0;
    live.forget_never_expiring();
  }
  for (const IndexId index : update.given) live.counter(index).items = live.counter(index).bytes = 0;
  if (description->expiry != update.old->expiry) {
    // Forget timers that were set under the old mode, and let the reaper look at the table's entries again.
    live.account().timers().forget(live.id());
    if (description->ttl) live.account().timers().look_now(live.id());
  }
  update.erasing.reset();
  const Lock lock(mutex_);
  if (update.closed) streams_.put(*update.closed);
  if (description->stream) streams_.put(*description->stream);
}

std::shared_ptr<const Table> Catalog::update(LiveTable& live, const std::function<void(Table&)>& change) {
  const Lock gate(live.gate_);
  if (live.dropped()) return nullptr;
  const Lock changing(changes_);
  Table table = edited(live);
  change(table);
  NextIds next{next_table_, next_stream_};
  Batch batch;
  std::vector<Update> updates;
  updates.push_back(stage_update(live, std::move(table), batch, next));
  if (next.stream != next_stream_) put_next_ids(batch, next.table, next.stream);
  if (live.kept_) images_.stage(batch, live.account().image_keeper());
  storage_.write(batch);
  next_stream_ = next.stream;
  settle(updates);
  return updates.front().description;
}

Table Catalog::edited(const LiveTable& live) const {
  Table table = *live.description();
  // The stream in the description has the current open shards, but only streams_ shows which records and
  // shards have been trimmed since then.
  if (table.stream) table.stream = find_stream(table.stream->id);
  return table;
}

Catalog::Drop Catalog::stage_drop(LiveTable& live, Batch& batch, Leaving leaving, PointId staged) {
  const std::shared_ptr<const Table> table = live.description();
  Drop drop{.live = &live, .erasing = std::make_unique<Erasing>(live.erasing_), .left = live.version_count()};
  if (leaving == Leaving::point || (leaving == Leaving::point_if_recoverable && table->recovery))
    points_.stage(batch, drop.last.emplace(point_of(live)), staged);
  drop.has_points = drop.last || points_.has(table->id);
  // Data that a snapshot needs stays in place.
  if (!live.kept_)
    drop.has_points ? erase_all_but_past(batch, table->id, drop.left) : erase_data(batch, table->id);
  batch.erase(table_prefix('T', table->id));
  if (table->stream) drop.closed = find_stream(table->stream->id);
  if (drop.closed) {
    close_with_last_records(storage_, *drop.closed, live.account().clock().now(), watermark_.published());
    put_description(batch, 'R', drop.closed->id, *drop.closed);
  }
  return drop;
}

void Catalog::settle(const Drop& drop) {
  const std::shared_ptr<const Table> table = drop.live->description();
  drop.live->dropped_ = true;
  if (drop.last) points_.add(*drop.last);
  if (drop.has_points) points_.leave(table->id, drop.left);
  const Lock lock(mutex_);
  const auto names = tables_.find(Scope{table->account, table->region});
  names->second.erase(table->name);
  by_id_.erase(table->id);
  if (names->second.empty()) tables_.erase(names);
  if (drop.closed) streams_.put(*drop.closed);
}

// --- earlier states of tables

bool Catalog::hold(LiveTable& live, const std::function<void()>& look) {
  const Lock gate(live.gate_);
  if (live.dropped()) return false;
  const Lock changing(changes_);
  look();
  return true;
}

void Catalog::hold_changes(const std::function<void()>& look) {
  const Lock changing(changes_);
  look();
}

Point Catalog::point_of(const LiveTable& live) const {
  const Counter& count = live.counter(0);
  return {.table = *live.description(),
          .number = watermark_.published(),
          .at = live.account().clock().now(),
          .items = count.items,
          .bytes = count.bytes};
}

void Catalog::settle_past(LiveTable& live) const {
  const std::optional<VersionNumber> latest = points_.latest(live.id());
  live.latest_point_ = latest.value_or(0);
  live.past_ = live.description()->recovery ? LiveTable::Past::instants
               : latest                     ? LiveTable::Past::points
                                            : LiveTable::Past::unwanted;
}

void Catalog::erase_all_but_past(Batch& batch, TableId table, VersionCount count) const {
  storage_.erase_range(batch, item_key(table, 1, {}), prefix_end(table_prefix('I', table)));
  for (const char kind : {'X', 'N', 'F', 'W', 'Y'}) storage_.erase_prefix(batch, table_prefix(kind, table));
  std::string value;
  append_little_endian(value, count.versions);
  append_little_endian(value, count.bytes);
  batch.put(counter_key(table, old_versions), value);
}

void Catalog::erase_data(Batch& batch, TableId table) const {
  for (const char kind : {'I', 'X', 'N', 'O', 'F', 'W', 'Y'})
    storage_.erase_prefix(batch, table_prefix(kind, table));
}

void Catalog::erase_unneeded(Batch& batch, TableId table) const {
  const std::optional<VersionCount> left = points_.left(table);
  left ? erase_all_but_past(batch, table, *left) : erase_data(batch, table);
}

// --- a table and its replicas

std::vector<std::shared_ptr<LiveTable>> Catalog::together_with(const LiveTable& live) const {
  std::vector<TableId> ids{live.id()};
  const std::shared_ptr<const Table> description = live.description();
  for (const Replica& replica : description->replicas) ids.push_back(replica.table);
  std::sort(ids.begin(), ids.end());
  std::vector<std::shared_ptr<LiveTable>> tables;
  for (const TableId id : ids)
    if (auto table = find(id)) tables.push_back(std::move(table));
  return tables;
}

Expected<Catalog::Together, Catalog::Refusal> Catalog::update_together(LiveTable& live,
                                                                       const ChangeTogether& change,
                                                                       std::size_t tables_max,
                                                                       Leaving leaving,
                                                                       const Describe& describe) {
  for (;;) {
    const auto held = together_with(live);  // sorted by id, the order in which gates are taken
    std::vector<std::unique_lock<Gate>> gates;
    for (const auto& table : held) gates.emplace_back(table->gate_);
    const Lock changing(changes_);
    if (live.dropped()) return Unexpected{Refusal::dropped};
    if (together_with(live) != held) continue;  // a replica was added or removed in the meantime
    return change_held(held, change, tables_max, leaving, describe);
  }
}

// Requires: the gates of all tables in `held` are held exclusively.
Expected<Catalog::Together, Catalog::Refusal> Catalog::change_held(
    const std::vector<std::shared_ptr<LiveTable>>& held, const ChangeTogether& change, std::size_t tables_max,
    Leaving leaving, const Describe& describe) {
  std::vector<Table> tables;
  for (const auto& table : held) tables.push_back(edited(*table));
  if (!change(tables)) return Unexpected{Refusal::unchanged};
  NextIds next{next_table_, next_stream_};
  const NextIds first = next;
  const bool were_alone = held.size() == 1;
  std::set<TableId> leave;
  for (Table& table : tables) {
    if (table.id != 0 && !were_alone && table.replicas.empty()) leave.insert(table.id);
    if (table.id != 0) continue;
    const Scope scope{table.account, table.region};
    if (find(scope, table.name)) return Unexpected{Refusal::name_taken};
    if (count(scope) >= tables_max) return Unexpected{Refusal::too_many};
    table.id = next.table++;
    table.uuid.clear();
  }
  for (Table& table : tables) {
    table.replicas.clear();
    for (const Table& other : tables)
      if (other.id != table.id && leave.count(table.id) + leave.count(other.id) == 0)
        table.replicas.push_back({other.id, other.region});
    if (table.replicas.empty()) table.strong = false;
    if (table.id < first.table || table.strong) continue;
    for (const Replica& replica : table.replicas)
      if (replica.table < first.table) table.copies_from.push_back(replica.table);
  }

  Batch batch;
  std::vector<Update> updates;
  std::vector<Drop> drops;
  std::vector<Making> makings;
  Together together;
  next.table = first.table;
  bool kept = false;
  PointId last_point = 0;
  for (const auto& table : held) {
    kept = kept || table->kept_;
    const auto stays = std::find_if(tables.begin(), tables.end(),
                                    [&](const Table& other) { return other.id == table->id(); });
    if (stays == tables.end()) {
      drops.push_back(stage_drop(*table, batch, leaving, last_point));
      if (const auto& last = drops.back().last) {
        last_point = last->id;
        if (describe) Documents::stage(batch, describe(*last));
      }
      together.dropped.push_back(table);
      continue;
    }
    together.tables.push_back(table);
    together.before.push_back(table->description());
    updates.push_back(stage_update(*table, std::move(*stays), batch, next));
  }
  for (Table& table : tables)
    if (table.id >= first.table) makings.push_back(stage_making(std::move(table), batch, next));
  if (next.stream != first.stream || next.table != first.table) put_next_ids(batch, next.table, next.stream);
  if (kept) images_.stage(batch, held.front()->account().image_keeper());
  storage_.write(batch);

  next_table_ = next.table;
  next_stream_ = next.stream;
  for (Drop& drop : drops) {
    settle(drop);
    if (drop.last) together.points.push_back(*std::move(drop.last));
  }
  settle(updates);
  for (Making& making : makings) {
    together.tables.push_back(settle(making));
    together.before.push_back(nullptr);
  }
  interleave("tables changed together");
  return together;
}

// --- a whole account

void Catalog::hold_still(std::string_view account, const std::function<void(const Tables&)>& look) {
  for (;;) {
    const Tables held = tables(account);  // sorted by id, the order in which gates are taken
    std::vector<std::unique_lock<Gate>> gates;
    for (const auto& live : held) gates.emplace_back(live->gate_);
    const Lock changing(changes_);
    if (tables(account) == held) return look(held);  // otherwise, a table has been created or dropped
  }
}

void Catalog::replace(Account& account, const StageReplacement& stage, const std::function<void()>& settle) {
  hold_still(account.id(), [&](const Tables& old_tables) {
    Batch batch;
    for (const auto& live : old_tables) batch.erase(table_prefix('T', live->id()));
    std::vector<Stream> old_streams;
    for (Stream& stream : this->streams(account.id())) {
      batch.erase(table_prefix('R', stream.id));
      old_streams.push_back(std::move(stream));
    }
    // Sequence numbers continue after the last number that was assigned, whichever stream it belongs to.
    put_last_sequence(batch, watermark_.published());

    auto [tables, streams] = stage(old_tables, old_streams, batch);
    for (const Stream& stream : streams) put_description(batch, 'R', stream.id, stream);
    for (const Table& table : tables) put_description(batch, 'T', table.id, table);
    storage_.write(batch);
    settle();

    std::vector<std::shared_ptr<LiveTable>> new_tables;
    for (Table& table : tables) {
      new_tables.push_back(make_live(std::move(table)));
      new_tables.back()->kept_ = true;
    }
    for (const Point& point : points_.of(account.id())) {
      const bool lives = std::any_of(new_tables.begin(), new_tables.end(),
                                     [&](const auto& live) { return live->id() == point.table.id; });
      if (!lives) leave_past(point.table.id);
    }
    const Lock lock(mutex_);
    for (const auto& live : old_tables) {
      live->dropped_ = true;
      account.timers().forget(live->id());
      by_id_.erase(live->id());
    }
    for (const Stream& stream : old_streams) streams_.erase(stream.id);
    for (auto scope = tables_.lower_bound({account.id(), {}});
         scope != tables_.end() && scope->first.account == account.id();)
      scope = tables_.erase(scope);
    for (auto& live : new_tables) {
      const auto table = live->description();
      by_id_[table->id] = live;
      tables_[Scope{table->account, table->region}][table->name] = std::move(live);
    }
    for (Stream& stream : streams) streams_.put(std::move(stream));
    interleave("account replaced");
  });
}

// --- streams

Stream Catalog::make_stream(const Table& table, StreamView view, StreamId id) const {
  Stream stream;
  stream.id = id;
  stream.table = table.id;
  stream.account = table.account;
  stream.region = table.region;
  stream.table_name = table.name;
  stream.view = view;
  stream.keys = table.keys;
  stream.name = id;
  stream.created = accounts_.of(table.account).clock().now();
  stream.shards = first_shards(stream_shards_, stream.created, watermark_.published());
  // A frozen clock would give the same label twice, but the label of a stream must be unique and later than
  // the labels of its predecessors.
  std::string latest = table.latest_stream_label.value_or("");
  {
    const SharedLock lock(mutex_);
    const Stream* last = streams_.last_of(table.account, table.region, table.name);
    if (last) latest = std::max(latest, last->label);
  }
  const auto is_later = [&](Instant instant) { return label_of(instant) > latest; };
  Instant label = stream.created;
  if (!is_later(label)) {
    Instant early = label, step = 1;
    while (!is_later(early + step) && step < label_search_ms_max) early += std::exchange(step, step * 2);
    while (step > 1) {
      step /= 2;
      if (!is_later(early + step)) early += step;
    }
    label = early + 1;
  }
  stream.label = label_of(label);
  return stream;
}

std::vector<Stream> Catalog::streams(const Scope& scope) const {
  const SharedLock lock(mutex_);
  return streams_.of(scope.account, scope.region);
}

std::vector<Stream> Catalog::streams(std::string_view account) const {
  const SharedLock lock(mutex_);
  return streams_.of(account);
}

bool Catalog::has_streams(std::string_view account) const {
  const SharedLock lock(mutex_);
  return streams_.has(account);
}

std::vector<Stream> Catalog::streams() const {
  const SharedLock lock(mutex_);
  return streams_.all();
}

std::optional<Stream> Catalog::find_stream(const Scope& scope, std::string_view table_name,
                                           std::string_view label) const {
  const SharedLock lock(mutex_);
  const Stream* found = streams_.find(scope.account, scope.region, table_name, label);
  return found ? std::optional<Stream>(*found) : std::nullopt;
}

std::optional<Stream> Catalog::find_stream(StreamId stream) const {
  const SharedLock lock(mutex_);
  const Stream* found = streams_.find(stream);
  return found ? std::optional<Stream>(*found) : std::nullopt;
}

std::shared_ptr<const Stream> Catalog::share_stream(StreamId stream) const {
  const SharedLock lock(mutex_);
  return streams_.share(stream);
}

std::optional<Shard> Catalog::find_shard(StreamId stream, ShardNumber number) const {
  const SharedLock lock(mutex_);
  const Stream* found = streams_.find(stream);
  const Shard* shard = found ? found->find_shard(number) : nullptr;
  return shard ? std::optional<Shard>(*shard) : std::nullopt;
}

Expected<std::vector<Shard>, ReshardRefusal> Catalog::reshard(LiveTable& live,
                                                              std::optional<ShardNumber> shard,
                                                              Resharding how) {
  const Lock gate(live.gate_);
  const Lock changing(changes_);
  Table table = *live.description();
  if (live.dropped() || !table.stream) return Unexpected{ReshardRefusal::no_stream};
  table.stream = find_stream(table.stream->id);
  TRY(std::vector<Shard> children,
      engine::reshard(*table.stream, shard, how, live.account().clock().now(), watermark_.published()));
  auto child = children.begin();  // the children are in the order of their parents
  for (Shard& parent : table.stream->shards) {
    if (child == children.end() || child->parent->number != parent.number) continue;
    end_with_last_record(storage_, table.stream->id, parent);
    while (child != children.end() && child->parent->number == parent.number) ++child;
  }

  Batch batch;
  put_description(batch, 'T', table.id, table);
  put_description(batch, 'R', table.stream->id, *table.stream);
  storage_.write(batch);

  auto description = std::make_shared<const Table>(std::move(table));
  live.describe(description);
  const Lock lock(mutex_);
  streams_.put(*description->stream);
  return children;
}

void Catalog::trim_stream(StreamId id, const std::vector<TrimmedShard>& trimmed, Batch& batch,
                          Account::Timeline timeline) {
  const Lock changing(changes_);  // so that trimming does not undo a concurrent close or restore
  std::optional<Stream> stream = find_stream(id);
  if (!stream || accounts_.of(stream->account).timeline() != timeline) return;
  std::vector<Shard> left;
  auto trim = trimmed.begin();
  for (Shard& shard : stream->shards) {
    while (trim != trimmed.end() && trim->shard < shard.number) ++trim;  // removed by another thread
    if (trim != trimmed.end() && trim->shard == shard.number) {
      if (trim->forgotten) continue;
      shard.oldest_sequence = std::max(shard.oldest_sequence, trim->oldest_sequence);
    }
    left.push_back(shard);
  }
  stream->shards = std::move(left);
  put_description(batch, 'R', id, *stream);
  images_.stage(batch, accounts_.of(stream->account).image_keeper());
  storage_.write(batch);
  const Lock lock(mutex_);
  streams_.put(*std::move(stream));
}

void Catalog::forget_stream(StreamId id, Batch& batch, Account::Timeline timeline) {
  const Lock changing(changes_);
  const std::optional<Stream> stream = find_stream(id);
  if (!stream || accounts_.of(stream->account).timeline() != timeline) return;
  put_last_sequence(batch, watermark_.published());
  batch.erase(table_prefix('R', id));
  images_.stage(batch, accounts_.of(stream->account).image_keeper());
  storage_.write(batch);
  const Lock lock(mutex_);
  streams_.erase(id);
}

}  // namespace mayfly::engine
