#include "engine/transaction.h"

#include <algorithm>
#include <limits>

#include "engine/attempt.h"
#include "engine/check.h"
#include "engine/departed.h"
#include "engine/expiry_index.h"
#include "engine/expiry_mode.h"
#include "engine/history_trimmer.h"
#include "engine/hurry.h"
#include "engine/index_entries.h"
#include "engine/item_codec.h"
#include "engine/item_version.h"
#include "engine/key_codec.h"
#include "engine/key_space.h"
#include "engine/lock_table.h"
#include "engine/parts.h"
#include "engine/replication.h"

namespace mayfly::engine {
namespace {

// Cost of writing an item, an index entry, or the item's part of a record.
constexpr std::uint64_t nanoseconds_per_byte = 1;

bool is_scalar(Type type) { return type <= Type::null; }

// An item has one encoding, except that earlier versions stored sets in another order; the bytes then differ
// but have the same length. Usually the first attribute that differs already shows that the items are not
// equal.
bool is_same(const StoredItem& old_item, std::string_view new_bytes) {
  if (old_item.bytes() == new_bytes) return true;
  if (old_item.bytes().size() != new_bytes.size()) return false;
  StoredReader before(old_item.bytes()), after(new_bytes);
  std::size_t left = before.count();
  if (left != after.count()) return false;
  for (; left > 0; --left) {
    if (before.text() != after.text()) return false;
    const StoredReader::Tag was = before.tag(), is = after.tag();
    if (was.type != is.type) return false;
    const bool differs = before.bytes(was) != after.bytes(is) || was.boolean != is.boolean;
    if (differs && is_scalar(is.type)) return false;
  }
  return old_item.item() == decode_item(new_bytes);
}

}  // namespace

namespace {
constexpr TableId no_table = 0;  // tables are numbered from 1

WriteVersion decoded_version(std::string_view bytes) {
  const auto version = decode_version(bytes);
  if (!version) throw StorageFault("an item's version cannot be decoded");
  return *version;
}
}  // namespace

struct Transaction::State final : ChangeSource {
  enum class Write : std::uint8_t { none, put, remove, forget_expiry, fill_entries };

  struct OneTable {
    std::shared_ptr<LiveTable> live;
    std::shared_ptr<const Table> description;  // as it is while the gate is held
  };

  struct OneItem {
    std::size_t table;  // in `tables`
    std::string key;
    bool exists = false;
    StoredItem old_item;
    Write write = Write::none;
    Item new_item;
    std::string new_bytes;
    std::optional<Instant> entry_due;   // of its expiry entry, if the reaper found the item by that entry
    std::optional<NeverReason> never;   // the reason why the staged item never expires
    std::optional<std::size_t> record;  // in `staged.records`
    std::vector<IndexEffect> effects;
    WriteVersion version;                 // the stored version, in a global table
    std::optional<WriteVersion> arrives;  // the version to store instead, if the write was made elsewhere
    std::optional<Slot> mirrors;          // the item that this item of a replica must become equal to
  };

  Database::Parts& parts;
  const Cause cause;
  bool expires = true;           // whether items that have fired are expired before they are seen
  bool removes_written = false;  // removes items that the previous transaction wrote already due
  std::vector<OneTable> tables;
  std::vector<OneItem> items;
  std::size_t gates_held = 0;  // the gates of the first `gates_held` tables are held
  ItemLocks locks;
  std::vector<std::string> claims;  // region_claims.h
  bool meets_another_region = false;
  StagedWrite staged;
  std::string token;  // named as in request_tokens.h; empty: the request has no token
  std::string digest;
  std::optional<std::string> digest_before;
  std::vector<TimerQueue::Timer> timers;

  State(Database::Parts& parts, Cause cause) : parts(parts), cause(cause) {}

  // All tables of a transaction belong to the same account.
  [[nodiscard]] Account& account() const { return tables.front().live->account(); }
  [[nodiscard]] Instant now() const { return account().clock().now(); }

  void release() {
    locks.release();
    for (const std::string& claim : claims) parts.region_claims.release(claim);
    claims.clear();
    for (; gates_held > 0; --gates_held) tables[gates_held - 1].live->gate_.unlock_shared();
  }

  void tell(ChangeFeed& feed, Instant at) const override;

  // Whether an item with these stored bytes has fired and no failpoint keeps it.
  [[nodiscard]] bool has_departed(const OneItem& item, std::string_view stored) const;
  void expire_met();      // expires stored items, before they can be seen
  void expire_written();  // expires items that were already due when they were written
  void read_versions();   // reads the versions of global tables' items from storage
  // Takes an item to remove from a transaction that holds the locks.
  void adopt(const OneItem& item, StoredItem stored);

  static TtlValue old_ttl(const OneItem& item, const Table& table) {
    return item.entry_due ? TtlValue{.due = item.entry_due, .never = std::nullopt}
                          : ttl_of_stored(table, item.old_item.bytes());
  }

  // Requires: new_bytes and new_item are set. An item that stays the same is not written.
  static void put(OneItem& item) {
    item.write = item.exists && is_same(item.old_item, item.new_bytes) ? Write::none : Write::put;
  }
  // Stages and commits. The locks are held by this transaction, or by the one that items were adopted from.
  void write();
  void stage(OneItem& item);
  void stage_item(OneItem& item, const Table& table, const LiveTable& live);
  void stage_indexes(OneItem& item, const Table& table, const LiveTable& live, const Item* old_item,
                     const Item* new_item);
  void stage_expiry(OneItem& item, const Table& table, const LiveTable& live);
  void erase_expiry(const OneItem& item, const Table& table, const LiveTable& live, Instant due);
  void forget_expiry(OneItem& item, const Table& table, const LiveTable& live);
  void put_never(OneItem& item, const Table& table, const LiveTable& live, NeverReason reason);
  void erase_never(const OneItem& item, const Table& table, const LiveTable& live, NeverReason reason,
                   bool surely);
  void note_suspect(const OneItem& item);
  void stage_record(OneItem& item, const Table& table);
  void stage_version(const OneItem& item, const LiveTable& live);
  void stage_replica_write(const OneItem& item, const Table& table);
  [[nodiscard]] Cause cause_of(const OneItem& item, const Table& table) const;
  bool take_gates();             // false: a table was dropped
  bool drop_mirrors();           // false: there were none
  bool claim_items();            // false: a writer in another region holds one
  bool add_mirrors();            // false: none was missing
  void write_mirrors();          // stages the same writes for the mirrors as for their originals
  void spend_on_writes() const;  // charges the writes to a hurry (hurry.h), before anything is written
  void stage_missing_entries(OneItem& item, const Table& table, const LiveTable& live);
};

Transaction::Transaction(Database& database, Cause cause)
    : state_(std::make_unique<State>(database.parts(), cause)) {}

Transaction::Transaction(Database& database, Replicated) : Transaction(database, Cause::user) {
  state_->expires = false;
}

Transaction::~Transaction() { state_->release(); }

// --- locking and reading

Transaction::Slot Transaction::add(std::shared_ptr<LiveTable> table, std::string key) {
  MAYFLY_CHECK(state_->gates_held == 0);
  auto& tables = state_->tables;
  std::size_t index = 0;
  while (index < tables.size() && tables[index].live != table) ++index;
  if (index == tables.size()) tables.push_back({std::move(table), nullptr});
  State::OneItem& item = state_->items.emplace_back();
  item.table = index;
  item.key = std::move(key);
  return state_->items.size() - 1;
}

void Transaction::use_token(const Scope& scope, std::string_view token, std::string digest) {
  MAYFLY_CHECK(state_->gates_held == 0);
  state_->token = RequestTokens::name_of(scope, token);
  state_->digest = std::move(digest);
}

bool Transaction::State::take_gates() {
  if (tables.size() > 1) {
    // Gates are taken by table id; items refer to tables by position.
    std::vector<std::shared_ptr<LiveTable>> before;
    for (const auto& table : tables) before.push_back(table.live);
    std::sort(tables.begin(), tables.end(),
              [](const auto& a, const auto& b) { return a.live->id() < b.live->id(); });
    for (OneItem& item : items)
      item.table = static_cast<std::size_t>(
          std::find_if(tables.begin(), tables.end(),
                       [&](const auto& table) { return table.live == before[item.table]; }) -
          tables.begin());
  }
  for (OneTable& table : tables) {
    table.live->gate_.lock_shared();
    ++gates_held;
    if (table.live->dropped()) {
      release();
      return false;
    }
    table.description = table.live->description();
  }
  return true;
}

// Only for tables with strong consistency. A table's replicas cannot change while its gate is held.
bool Transaction::State::add_mirrors() {
  bool added = false;
  for (Slot slot = 0; slot < items.size(); ++slot) {
    if (items[slot].mirrors) continue;
    const Table& table = *tables[items[slot].table].description;
    if (!table.strong) continue;
    for (const Replica& replica : table.replicas) {
      const bool there = std::any_of(items.begin(), items.end(), [&](const OneItem& other) {
        return other.mirrors == slot && tables[other.table].live->id() == replica.table;
      });
      std::shared_ptr<LiveTable> live = there ? nullptr : parts.catalog.find(replica.table);
      if (!live) continue;
      std::size_t place = 0;
      while (place < tables.size() && tables[place].live != live) ++place;
      if (place == tables.size()) tables.push_back({std::move(live), nullptr});
      OneItem mirror;
      mirror.table = place;
      mirror.key = items[slot].key;
      mirror.mirrors = slot;
      items.push_back(std::move(mirror));
      added = true;
    }
  }
  return added;
}

// In all regions, the name of an item is its key prefixed by the id of the oldest table.
bool Transaction::State::claim_items() {
  for (const OneItem& item : items) {
    const Table& table = *tables[item.table].description;
    if (!table.strong || item.mirrors) continue;
    const TableId eldest = std::min(table.id, table.replicas.front().table);
    std::string name = item_key(eldest, 0, item.key);
    if (!parts.region_claims.claim(name, table.id)) return false;
    claims.push_back(std::move(name));
  }
  return true;
}

bool Transaction::State::drop_mirrors() {
  std::vector<OneTable> kept;
  const std::size_t before = items.size();
  std::erase_if(items, [](const OneItem& item) { return item.mirrors.has_value(); });
  for (OneItem& item : items) {
    const OneTable& own = tables[item.table];
    const auto known =
        std::find_if(kept.begin(), kept.end(), [&](const OneTable& other) { return other.live == own.live; });
    item.table = static_cast<std::size_t>(known - kept.begin());
    if (known == kept.end()) kept.push_back(own);
  }
  tables = std::move(kept);
  return items.size() < before;
}

bool Transaction::lock() {
  State& state = *state_;
  for (;;) {
    if (!state.take_gates()) {
      if (state.drop_mirrors()) continue;  // a replica was removed
      return false;
    }
    const bool strong = std::any_of(state.tables.begin(), state.tables.end(),
                                    [](const auto& table) { return table.description->strong; });
    if (!strong) break;
    if (!state.add_mirrors()) {
      if (state.claim_items()) break;
      state.release();
      state.meets_another_region = true;
      return false;
    }
    state.release();  // to take all gates in order
  }
  std::vector<LockTable::Stripe> stripes;
  stripes.reserve(state.items.size());
  for (const State::OneItem& item : state.items)
    stripes.push_back(LockTable::stripe_of(state.tables[item.table].live->id(), item.key));
  if (!state.token.empty()) stripes.push_back(LockTable::stripe_of(no_table, state.token));
  state.locks.take(state.parts.locks, std::move(stripes));
  if (!state.token.empty()) state.digest_before = state.parts.tokens.find(state.token, state.now());

  std::string key, bytes, version;
  for (State::OneItem& item : state.items) {
    key.clear();
    append_item_key(key, state.tables[item.table].live->id(), 0, item.key);
    item.exists = state.parts.storage().get(key, bytes);
    Hurry::spend(nanoseconds_per_byte * bytes.size());
    if (item.exists) item.old_item = StoredItem(std::move(bytes));
    const Table& table = *state.tables[item.table].description;
    if (table.replicates() && state.parts.storage().get(write_version_key(table.id, item.key), version))
      item.version = decoded_version(version);
  }
  if (state.cause == Cause::user && state.expires) state.expire_met();
  return true;
}

bool Transaction::meets_another_region() const { return state_->meets_another_region; }

// --- expired items

bool Transaction::State::has_departed(const OneItem& item, std::string_view stored) const {
  const OneTable& table = tables[item.table];
  return table.live->expires() && has_fired(*table.description, stored, now()) &&
         !(parts.failpoints.any() && parts.failpoints.keeps(*table.live, item.key));
}

void Transaction::State::expire_met() {
  State expiry(parts, Cause::time_to_live);
  for (OneItem& item : items) {
    if (!item.exists || !has_departed(item, item.old_item.bytes())) continue;
    expiry.adopt(item, std::exchange(item.old_item, {}));
    item.exists = false;
  }
  if (expiry.items.empty()) return;
  expiry.tables = tables;
  expiry.write();
  read_versions();  // an expired item now has the version of its deletion
}

void Transaction::State::expire_written() {
  State expiry(parts, Cause::time_to_live);
  expiry.removes_written = true;
  for (const OneItem& item : items)
    if (item.write == Write::put && has_departed(item, item.new_bytes))
      expiry.adopt(item, StoredItem(item.new_bytes));
  if (expiry.items.empty()) return;
  expiry.tables = tables;
  const auto expire = [&] {
    expiry.read_versions();
    expiry.write();
  };
  attempt(expire, [](std::string_view) {
    // The write stands; the reaper will remove the item.
  });
}

void Transaction::State::read_versions() {
  std::string bytes;
  for (OneItem& item : items) {
    const Table& table = *tables[item.table].description;
    if (table.replicates() && parts.storage().get(write_version_key(table.id, item.key), bytes))
      item.version = decoded_version(bytes);
  }
}

void Transaction::State::adopt(const OneItem& item, StoredItem stored) {
  OneItem& adopted = items.emplace_back();
  adopted.table = item.table;
  adopted.key = item.key;
  adopted.exists = true;
  adopted.old_item = std::move(stored);
  adopted.version = item.version;
  adopted.write = Write::remove;
}

const Table& Transaction::table(Slot slot) const {
  return *state_->tables[state_->items[slot].table].description;
}

const StoredItem* Transaction::old_item(Slot slot) const {
  const State::OneItem& item = state_->items[slot];
  return item.exists ? &item.old_item : nullptr;
}

const std::optional<std::string>& Transaction::digest_before() const { return state_->digest_before; }

// --- staging

void Transaction::put(Slot slot, Item new_item) {
  State::OneItem& item = state_->items[slot];
  item.new_bytes.clear();
  encode_item(new_item, item.new_bytes);
  item.new_item = std::move(new_item);
  state_->put(item);
}

void Transaction::put(Slot slot, Item new_item, std::string stored) {
  State::OneItem& item = state_->items[slot];
  const Table& table = this->table(slot);
  item.new_bytes = std::move(stored);
  const bool asks_for_all = !table.indexes.empty() || table.replicates();
  item.new_item = asks_for_all && new_item.size() < StoredReader(item.new_bytes).count()
                      ? decode_item(item.new_bytes)
                      : std::move(new_item);
  state_->put(item);
}

void Transaction::put_stored(Slot slot, const StoredItem& stored) {
  State::OneItem& item = state_->items[slot];
  if (item.exists) return put(slot, stored.item());
  item.new_bytes.assign(stored.bytes());
  const Table& table = this->table(slot);
  if (!table.indexes.empty() || table.ttl || table.stream) item.new_item = stored.item();
  item.write = State::Write::put;
}

void Transaction::remove(Slot slot) {
  State::OneItem& item = state_->items[slot];
  item.write = item.exists ? State::Write::remove : State::Write::none;
}

void Transaction::free_trees(Slot slot) {
  constexpr std::size_t small_bytes = 4096;  // smaller trees are not worth decoding again
  State::OneItem& item = state_->items[slot];
  const Table& table = this->table(slot);
  if (!table.indexes.empty() || table.replicates()) return;
  if (item.new_bytes.size() > small_bytes) item.new_item = key_attributes(table.keys, item.new_item);
  if (item.old_item.bytes().size() > small_bytes)
    item.old_item = StoredItem(std::string(item.old_item.bytes()));
}

bool Transaction::remove_expired(Slot slot, Instant due) {
  State::OneItem& item = state_->items[slot];
  const Instant now = state_->now();
  item.entry_due = due;
  // Re-check: the item may have been renewed, or removed and written anew, since its entry was read.
  const std::optional<Instant> due_now =
      item.exists ? due_of_stored(table(slot), item.old_item.bytes()) : std::nullopt;
  const bool here = expires_here(table(slot), item.version.origin);
  if (here && due_now == due && is_expired(due, now)) {
    item.write = State::Write::remove;
    return true;
  }
  if (here && due_now == due && due > now) return false;
  item.write = State::Write::forget_expiry;
  return false;
}

void Transaction::fill_entries(Slot slot) {
  State::OneItem& item = state_->items[slot];
  item.write = item.exists ? State::Write::fill_entries : State::Write::none;
}

// --- replicated writes

void Transaction::replicate(Slot slot, const WriteVersion& version, std::string_view item_bytes) {
  State::OneItem& item = state_->items[slot];
  const bool was_never_here = !item.exists && item.version.number == 0 && !item.version.gone();
  if (version.number <= item.version.number && !was_never_here) return;
  if (item_bytes.empty()) {
    remove(slot);
  } else {
    put(slot, decode_item(item_bytes));
  }
  item.arrives = version;  // even if the item stays as it is
  item.arrives->tombstone = item_bytes.empty() ? 1 : 0;
}

void Transaction::arrived(std::string_view departure_key) { state_->staged.batch.erase(departure_key); }

void Transaction::forget_tombstone(Slot slot, Sequence tombstone) {
  const State::OneItem& item = state_->items[slot];
  const TableId id = table(slot).id;
  state_->staged.batch.erase(tombstone_key(id, tombstone, item.key));
  if (item.version.tombstone == tombstone) state_->staged.batch.erase(write_version_key(id, item.key));
}

// --- writing

void Transaction::commit() {
  State& state = *state_;
  MAYFLY_CHECK(state.gates_held == state.tables.size());
  MAYFLY_CHECK(!state.digest_before);
  state.spend_on_writes();
  Hurry::end();  // a commit runs to its end
  state.write_mirrors();
  state.write();
  state.release();
}

void Transaction::State::spend_on_writes() const {
  for (const OneItem& item : items) {
    if (item.write == Write::none) continue;
    const std::size_t entries = 1 + tables[item.table].description->indexes.size();
    Hurry::spend(nanoseconds_per_byte * entries * (item.old_item.bytes().size() + item.new_bytes.size()));
  }
  if (Hurry::is_on() && parts.committer.is_busy()) Hurry::give_way();
}

void Transaction::State::write_mirrors() {
  for (OneItem& item : items) {
    if (!item.mirrors) continue;
    const OneItem& origin = items[*item.mirrors];
    item.write = origin.write == Write::remove && !item.exists ? Write::none : origin.write;
    item.new_item = origin.new_item;
    item.new_bytes = origin.new_bytes;
  }
}

void Transaction::State::write() {
  for (OneItem& item : items) {
    stage(item);
    const Table& table = *tables[item.table].description;
    if (table.replicates()) stage_replica_write(item, table);
  }
  if (!token.empty()) parts.tokens.stage_use(staged.batch, token, digest, now());
  if (staged.batch.empty()) return;
  if (std::any_of(tables.begin(), tables.end(),
                  [](const OneTable& table) { return table.live->kept_.load(); }))
    parts.before_images.stage(staged.batch, account().image_keeper());
  staged.clock = &account().clock();
  staged.source = this;
  parts.committer.commit(staged);
  if (!staged.versions.empty()) {
    std::size_t bytes = 0;
    for (const StagedWrite::Version& version : staged.versions) bytes += version.bytes();
    parts.history_trimmer->written(bytes);
  }
  if (!staged.replica_writes.empty()) parts.replication->wake(account());
  if (cause == Cause::time_to_live) {
    for (const OneItem& item : items)
      if (item.write == Write::remove && cause_of(item, *tables[item.table].description) == cause)
        tables[item.table].live->expiry_stats().record(
            item.key, {.due = old_ttl(item, *tables[item.table].description).due.value_or(staged.at),
                       .at = staged.at,
                       .born_due = removes_written});
  } else if (!timers.empty()) {
    expire_written();
  }
  for (const TimerQueue::Timer& timer : timers) account().timers().push(timer);
  for (const OneItem& item : items)
    if (item.never || (removes_written && item.write == Write::remove)) note_suspect(item);
}

void Transaction::State::stage(OneItem& item) {
  const Table& table = *tables[item.table].description;
  const LiveTable& live = *tables[item.table].live;
  switch (item.write) {
    case Write::none: return;
    case Write::put:
    case Write::remove: return stage_item(item, table, live);
    case Write::forget_expiry: return forget_expiry(item, table, live);
    case Write::fill_entries: return stage_missing_entries(item, table, live);
  }
}

void Transaction::State::stage_item(OneItem& item, const Table& table, const LiveTable& live) {
  const bool puts = item.write == Write::put;
  const std::string stored_key = item_key(table.id, 0, item.key);
  // Room for the item and for its old version.
  staged.batch.make_room(2, 2 * stored_key.size() + item.new_bytes.size() + item.old_item.bytes().size());
  if (puts) {
    staged.batch.put(stored_key, item.new_bytes);
    if (item.exists) staged.batch.note_replaced(item.old_item.bytes().size());
  } else {
    staged.batch.erase(stored_key, item.exists ? item.old_item.bytes().size() : 0);
  }
  staged.count(live, 0, (puts ? 1 : 0) - (item.exists ? 1 : 0),
               (puts ? std::int64_t{stored_item_size(item.new_bytes)} : 0) -
                   (item.exists ? static_cast<std::int64_t>(item.old_item.size()) : 0));
  if (!table.indexes.empty())
    stage_indexes(item, table, live, item.exists ? &item.old_item.item() : nullptr,
                  puts ? &item.new_item : nullptr);
  if (table.ttl) stage_expiry(item, table, live);
  if (table.stream) stage_record(item, table);
  if (live.past() != LiveTable::Past::unwanted) stage_version(item, live);
}

// Keeps the old version of the item, for later reads of the past.
void Transaction::State::stage_version(const OneItem& item, const LiveTable& live) {
  if (live.past() == LiveTable::Past::points) {
    // One version after the latest point is enough for all of them.
    Storage::Iterator later(parts.storage(), version_key(live.id(), item.key, live.latest_point() + 1),
                            version_key(live.id(), item.key, std::numeric_limits<VersionNumber>::max()));
    later.seek_to_first();
    if (later.valid()) return;
  }
  StagedWrite::Version& version =
      staged.versions.emplace_back(StagedWrite::Version{live.id(), item.key, std::nullopt});
  if (item.exists) version.item = item.old_item.bytes();
  staged.count(live, old_versions, 1, static_cast<std::int64_t>(version.bytes()));
}

void Transaction::State::stage_indexes(OneItem& item, const Table& table, const LiveTable& live,
                                       const Item* old_item, const Item* new_item) {
  for (const IndexChange& change : index_changes(table, old_item, new_item)) {
    const IndexId id = change.index->id;
    bool had_entry = !change.old_key.empty();
    if (had_entry && change.index->state == Index::State::creating) {
      // The backfill may not have reached this item yet; then there is no entry to subtract from the counter.
      std::string unused;
      had_entry = parts.storage().get(item_key(table.id, id, change.old_key), unused);
    }
    if (change.key_changed() || !had_entry) {
      if (had_entry) staged.batch.erase(item_key(table.id, id, change.old_key));
      if (!change.new_key.empty()) staged.batch.put(item_key(table.id, id, change.new_key), item.key);
    }
    const std::int64_t old_bytes = had_entry ? static_cast<std::int64_t>(change.old_bytes) : 0;
    staged.count(live, id, (change.new_key.empty() ? 0 : 1) - (had_entry ? 1 : 0),
                 static_cast<std::int64_t>(change.new_bytes) - old_bytes);
    item.effects.push_back({id, change.old_bytes, change.new_bytes, change.key_changed()});
  }
}

void Transaction::State::stage_expiry(OneItem& item, const Table& table, const LiveTable& live) {
  // In a global table, an item that expires in another region has no entry here.
  const bool was_ours = expires_here(table, item.version.origin);
  const bool is_ours = !item.arrives || expires_here(table, item.arrives->origin);
  TtlValue before, after;
  if (item.exists && was_ours) before = old_ttl(item, table);
  if (item.write == Write::put && is_ours) after = ttl_of_stored(table, item.new_bytes);
  if (before == after) return;
  const Instant now = this->now();
  if (before.due) erase_expiry(item, table, live, *before.due);
  if (const auto never = before.never_at(now))
    erase_never(item, table, live, *never, before.never && table.ttl->lists_never && !table.ttl->backfilling);
  if (const auto never = after.never_at(now)) return put_never(item, table, live, *never);
  if (!after.due) return;
  staged.batch.put(parts.expiry.entry_key(table.id, *after.due, item.key), {});
  staged.count(live, expiry_entries, 1, 0);
  timers.push_back({table.id, *after.due, fires_at(table, *after.due)});
}

void Transaction::State::put_never(OneItem& item, const Table& table, const LiveTable& live,
                                   NeverReason reason) {
  staged.batch.put(ExpiryIndex::never_key(table.id, reason, item.key), {});
  staged.count(live, never_counter(reason), 1, 0);
  item.never = reason;
}

// `surely` is false if there may be no such entry: the item became too old later, or the backfill has not
// reached it yet.
void Transaction::State::erase_never(const OneItem& item, const Table& table, const LiveTable& live,
                                     NeverReason reason, bool surely) {
  const std::string entry = ExpiryIndex::never_key(table.id, reason, item.key);
  if (std::string unused; !surely && !parts.storage().get(entry, unused)) return;
  staged.batch.erase(entry);
  staged.count(live, never_counter(reason), -1, 0);
}

// The entry is stale, or the item has become too old; in the second case it never expires from now on.
void Transaction::State::forget_expiry(OneItem& item, const Table& table, const LiveTable& live) {
  erase_expiry(item, table, live, *item.entry_due);
  if (!item.exists || !expires_here(table, item.version.origin)) return;
  const TtlValue ttl = ttl_of_stored(table, item.old_item.bytes());
  if (ttl.due != item.entry_due || !is_too_old(*ttl.due, now())) return;
  const std::string entry = ExpiryIndex::never_key(table.id, NeverReason::too_old, item.key);
  if (std::string unused; !parts.storage().get(entry, unused))
    put_never(item, table, live, NeverReason::too_old);
}

void Transaction::State::erase_expiry(const OneItem& item, const Table& table, const LiveTable& live,
                                      Instant due) {
  const std::string entry = parts.expiry.entry_key(table.id, due, item.key);
  // The entry may be missing for one of three reasons: a write that overtook the reaper has erased it, the
  // item was already too old when it was written, or the backfill has not reached the item yet.
  const bool surely =
      item.write != Write::forget_expiry && !table.ttl->backfilling && !is_too_old(due, now());
  if (std::string unused; !surely && !parts.storage().get(entry, unused)) return;
  staged.batch.erase(entry);
  staged.count(live, expiry_entries, -1, 0);
}

void Transaction::State::stage_record(OneItem& item, const Table& table) {
  const bool puts = item.write == Write::put;
  const Item& with_keys = puts ? item.new_item : item.old_item.item();
  item.record = staged.records.size();
  const Stream& stream = *table.stream;
  staged.records.push_back(
      {stream.id, stream.open_shard(partition_hash(item.key)).number,
       encode_record(cause_of(item, table), stream.view, key_attributes(table.keys, with_keys),
                     item.exists ? item.old_item.bytes() : std::string_view{},
                     puts ? std::string_view(item.new_bytes) : std::string_view{})});
}

// Only in the region where the item expires does the record name TTL as the cause. In other regions the
// deletion counts as a replicated write. It may even be made early, because a transaction that meets a fired
// item does not wait for it.
Cause Transaction::State::cause_of(const OneItem& item, const Table& table) const {
  return expires_here(table, item.version.origin) ? cause : Cause::user;
}

void Transaction::State::stage_replica_write(const OneItem& item, const Table& table) {
  const bool writes = item.write == Write::put || item.write == Write::remove;
  if (!writes && !item.arrives) return;
  // The version number is assigned by the commit. Until then the batch has only its key, for snapshots.
  staged.batch.put(write_version_key(table.id, item.key), {});
  if (item.version.gone()) staged.batch.erase(tombstone_key(table.id, item.version.tombstone, item.key));
  ReplicaWrite& write = staged.replica_writes.emplace_back();
  write.table = table.id;
  write.key = item.key;
  write.record = item.record;
  const bool gone = item.arrives ? item.arrives->gone() : item.write == Write::remove;
  if (!gone) write.item = item.new_bytes;
  if (item.arrives) {
    write.version = item.arrives->number;
    write.origin = item.arrives->origin;
    return;
  }
  write.origin = table.id;
  if (cause == Cause::time_to_live) {
    write.version = WriteVersion::of_expiry(item.version.number);
    if (!expires_here(table, item.version.origin)) return;  // the expiring region notifies the others
  }
  for (const Replica& replica : table.replicas) write.to.push_back(replica.table);
}

void Transaction::State::stage_missing_entries(OneItem& item, const Table& table, const LiveTable& live) {
  for (const Index& index : table.indexes) {
    if (index.state != Index::State::creating) continue;
    const std::string entry = index_entry_key(table, index, item.old_item.item());
    if (entry.empty()) continue;
    const std::string stored_key = item_key(table.id, index.id, entry);
    if (std::string unused; parts.storage().get(stored_key, unused)) continue;
    staged.batch.put(stored_key, item.key);
    staged.count(live, index.id, 1,
                 static_cast<std::int64_t>(projected_size(table, index, item.old_item.item())));
  }
  if (!table.ttl || !expires_here(table, item.version.origin)) return;
  const TtlValue ttl = ttl_of_stored(table, item.old_item.bytes());
  std::string unused;
  if (ttl.due) {
    const std::string entry = parts.expiry.entry_key(table.id, *ttl.due, item.key);
    if (parts.storage().get(entry, unused)) return;
    if (!is_too_old(*ttl.due, now())) {
      if (!table.ttl->backfilling) return;
      staged.batch.put(entry, {});
      staged.count(live, expiry_entries, 1, 0);
      timers.push_back({table.id, *ttl.due, fires_at(table, *ttl.due)});
      return;
    }
  }
  const auto never = ttl.never_at(now());
  if (!never || parts.storage().get(ExpiryIndex::never_key(table.id, *never, item.key), unused)) return;
  put_never(item, table, live, *never);
}

// Runs last, because it can throw std::bad_alloc.
// Requires: the item is committed, and it never expires or was already due when it was written.
void Transaction::State::note_suspect(const OneItem& item) {
  const OneTable& table = tables[item.table];
  const Table& description = *table.description;
  const bool puts = item.write == Write::put;
  const Item keys = key_attributes(description.keys, puts ? item.new_item : item.old_item.item());
  const bool is_first = table.live->ttl_suspects().note(
      {.key = item.key, .key_attributes = keys, .never = item.never, .at = staged.at});
  const auto& told = parts.options.never_expires;
  if (!is_first || !told) return;
  const std::optional<AttributeValue> ttl = stored_attribute(
      puts ? std::string_view(item.new_bytes) : item.old_item.bytes(), description.ttl->attribute);
  if (ttl) told(description, keys, *item.never, *ttl);
}

void Transaction::State::tell(ChangeFeed& feed, Instant at) const {
  for (const OneItem& item : items) {
    const bool puts = item.write == Write::put;
    if (!puts && item.write != Write::remove) continue;
    const StagedWrite::Record* const record = item.record ? &staged.records[*item.record] : nullptr;
    feed.tell({.table = tables[item.table].description,
               .kind = !puts         ? ChangeRecord::Kind::remove
                       : item.exists ? ChangeRecord::Kind::modify
                                     : ChangeRecord::Kind::insert,
               .cause = cause_of(item, *tables[item.table].description),
               .at = at,
               .key = item.key,
               .old_item = item.exists ? item.old_item.bytes() : std::string_view{},
               .new_item = puts ? std::string_view(item.new_bytes) : std::string_view{},
               .sequence = record != nullptr ? std::optional(record->sequence) : std::nullopt,
               .shard = record != nullptr ? record->shard : 0});
  }
}

const std::vector<Transaction::IndexEffect>& Transaction::index_effects(Slot slot) const {
  return state_->items[slot].effects;
}

}  // namespace mayfly::engine
