#include "engine/items/transaction.h"

#include <algorithm>

#include "engine/base/attempt.h"
#include "engine/base/check.h"
#include "engine/base/hurry.h"
#include "engine/items/departed.h"
#include "engine/items/failpoints.h"
#include "engine/items/locked_items.h"
#include "engine/items/request_tokens.h"
#include "engine/items/write_path.h"
#include "engine/items/write_stages.h"
#include "engine/schema/index_entries.h"
#include "engine/storage/before_images.h"
#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"
#include "engine/tables/committer.h"
#include "engine/time/account.h"
#include "engine/time/expiry_index.h"
#include "engine/values/item_codec.h"

namespace mayfly::engine {
namespace {

// The cost of reading or writing an item, and of writing an index entry or an item's part of a stream record.
constexpr std::uint64_t nanoseconds_per_byte = 1;

bool is_scalar(Type type) { return type <= Type::null; }

// Equal items have equal bytes, except that earlier versions of Mayfly stored sets in another order. In that
// case, the bytes differ but have the same length. Usually the first attribute that differs already shows
// that the items are not equal.
bool is_same(const StoredItem& old_item, const StoredItem& new_item) {
  if (old_item.bytes() == new_item.bytes()) return true;
  if (old_item.bytes().size() != new_item.bytes().size()) return false;
  StoredReader before(old_item.bytes()), after(new_item.bytes());
  std::size_t left = before.count();
  if (left != after.count()) return false;
  for (; left > 0; --left) {
    if (before.text() != after.text()) return false;
    const StoredReader::Tag was = before.tag(), is = after.tag();
    if (was.type != is.type) return false;
    const bool differs = before.bytes(was) != after.bytes(is) || was.boolean != is.boolean;
    if (differs && is_scalar(is.type)) return false;
  }
  return old_item.item() == new_item.item();
}

WriteVersion decoded_version(std::string_view bytes) {
  const auto version = decode_version(bytes);
  if (!version) throw StorageFault("an item's version cannot be decoded");
  return *version;
}

}  // namespace

struct Transaction::State final : ChangeSource {
  const WritePath& path;
  const Cause cause;
  bool expires = true;           // whether lock() deletes fired items before a caller sees them
  bool removes_written = false;  // whether items that were already due when they were written are removed
  LockedItems held;
  bool meets_another_region = false;
  StagedWrite staged;
  std::string token;  // the name from RequestTokens::name_of; empty if the request has no token
  std::string digest;
  std::optional<std::string> digest_before;
  std::vector<TimerQueue::Timer> timers;

  State(const WritePath& path, Cause cause) : path(path), cause(cause), held(path) {}

  [[nodiscard]] Account& account() const { return held.account(); }
  [[nodiscard]] Instant now() const { return account().clock().now(); }

  void read_items();     // reads the items from storage; requires their locks
  void read_versions();  // reads the versions of items in global tables
  // Whether an item with these stored bytes has fired and no failpoint keeps it.
  [[nodiscard]] bool has_departed(const ItemChange& item, std::string_view stored) const;
  void expire_met();      // deletes stored, fired items before a caller sees them
  void expire_written();  // deletes items that were already due when they were written
  // Adds an item of another transaction, which holds the locks, and stages the item's removal.
  void adopt(const LockedItems& holder, const ItemChange& item, StoredItem stored);

  void spend_on_writes() const;  // charges the writes to the Hurry (hurry.h) before anything is written
  void write_mirrors();          // gives the mirrors the same writes as their originals
  // Stages and commits the writes. The locks are held by this transaction, or by the transaction that the
  // items were adopted from.
  void write();
  void stage(ItemChange& item);
  void follow_up();  // does the work that must follow the commit
  void record_expiries();
  void note_suspect(const ItemChange& item);
  void tell(ChangeFeed& feed, Instant at) const override;

  using Write = ItemChange::Write;
};

Transaction::Transaction(const WritePath& path, Cause cause) : state_(std::make_unique<State>(path, cause)) {}

Transaction::Transaction(const WritePath& path, Replicated) : Transaction(path, Cause::user) {
  state_->expires = false;
}

Transaction::~Transaction() = default;

// --- locking and reading

Transaction::Slot Transaction::add(std::shared_ptr<LiveTable> table, std::string key) {
  return state_->held.add(std::move(table), std::move(key));
}

void Transaction::use_token(const Scope& scope, std::string_view token, std::string digest) {
  MAYFLY_CHECK(!state_->held.are_held());
  state_->token = RequestTokens::name_of(scope, token);
  state_->digest = std::move(digest);
}

bool Transaction::lock() {
  State& state = *state_;
  const LockedItems::Outcome outcome = state.held.lock(state.token);
  state.meets_another_region = outcome == LockedItems::Outcome::other_region_writes;
  if (outcome != LockedItems::Outcome::locked) return false;
  if (!state.token.empty()) state.digest_before = state.path.tokens.find(state.token, state.now());
  state.read_items();
  if (state.cause == Cause::user && state.expires) state.expire_met();
  return true;
}

void Transaction::State::read_items() {
  std::string key, bytes;
  for (ItemChange& item : held.items()) {
    key.clear();
    append_item_key(key, held.live_of(item).id(), 0, item.key);
    item.exists = path.storage.get(key, bytes);
    Hurry::spend(nanoseconds_per_byte * bytes.size());
    if (item.exists) item.old_item = StoredItem(std::move(bytes));
  }
  read_versions();
}

void Transaction::State::read_versions() {
  std::string bytes;
  for (ItemChange& item : held.items()) {
    const Table& table = held.table_of(item);
    if (table.replicates() && path.storage.get(write_version_key(table.id, item.key), bytes))
      item.version = decoded_version(bytes);
  }
}

bool Transaction::meets_another_region() const { return state_->meets_another_region; }

// --- expired items

bool Transaction::State::has_departed(const ItemChange& item, std::string_view stored) const {
  const LiveTable& live = held.live_of(item);
  return live.expires() && has_fired(held.table_of(item), stored, now()) &&
         !(path.failpoints.any() && path.failpoints.keeps(live, item.key));
}

void Transaction::State::expire_met() {
  State expiry(path, Cause::time_to_live);
  for (ItemChange& item : held.items()) {
    if (!item.exists || !has_departed(item, item.old_item.bytes())) continue;
    expiry.adopt(held, item, std::exchange(item.old_item, {}));
    item.exists = false;
  }
  if (expiry.held.items().empty()) return;
  expiry.write();
  read_versions();  // the version of an expired item is now that of its deletion
}

void Transaction::State::expire_written() {
  State expiry(path, Cause::time_to_live);
  expiry.removes_written = true;
  for (const ItemChange& item : held.items())
    if (item.write == Write::put && has_departed(item, item.new_item.bytes()))
      expiry.adopt(held, item, StoredItem(std::string(item.new_item.bytes())));
  if (expiry.held.items().empty()) return;
  const auto expire = [&] {
    expiry.read_versions();
    expiry.write();
  };
  attempt(expire, [](std::string_view) {
    // The write is already committed, and the reaper will remove the item.
  });
}

void Transaction::State::adopt(const LockedItems& holder, const ItemChange& item, StoredItem stored) {
  ItemChange& adopted = held.adopt(holder, item);
  adopted.exists = true;
  adopted.old_item = std::move(stored);
  adopted.write = Write::remove;
}

const Table& Transaction::table(Slot slot) const { return state_->held.table_of(state_->held.items()[slot]); }

const StoredItem* Transaction::old_item(Slot slot) const {
  const ItemChange& item = state_->held.items()[slot];
  return item.exists ? &item.old_item : nullptr;
}

const std::optional<std::string>& Transaction::digest_before() const { return state_->digest_before; }

// --- staging

void Transaction::put(Slot slot, Item new_item) { put_stored(slot, StoredItem(std::move(new_item))); }

// An item that does not change is not written.
void Transaction::put_stored(Slot slot, StoredItem new_item) {
  ItemChange& item = state_->held.items()[slot];
  item.new_item = std::move(new_item);
  const bool same = item.exists && is_same(item.old_item, item.new_item);
  item.write = same ? ItemChange::Write::none : ItemChange::Write::put;
}

void Transaction::remove(Slot slot) {
  ItemChange& item = state_->held.items()[slot];
  item.write = item.exists ? ItemChange::Write::remove : ItemChange::Write::none;
}

void Transaction::free_trees(Slot slot) {
  constexpr std::size_t small_bytes = 4096;  // smaller trees are kept to avoid decoding them again
  if (!table(slot).indexes.empty()) return;
  ItemChange& change = state_->held.items()[slot];
  for (StoredItem* item : {&change.old_item, &change.new_item})
    if (item->bytes().size() > small_bytes) item->free_tree();
}

bool Transaction::remove_expired(Slot slot, Instant due) {
  ItemChange& item = state_->held.items()[slot];
  const Instant now = state_->now();
  item.entry_due = due;
  // Re-check: the item may have been renewed, or removed and written anew, since its entry was read.
  const std::optional<Instant> due_now =
      item.exists ? due_of_stored(table(slot), item.old_item.bytes()) : std::nullopt;
  const bool here = expires_here(table(slot), item.version.origin);
  if (here && due_now == due && is_expired(due, now)) {
    item.write = ItemChange::Write::remove;
    return true;
  }
  if (here && due_now == due && due > now) return false;
  item.write = ItemChange::Write::forget_expiry;
  return false;
}

void Transaction::fill_entries(Slot slot) {
  ItemChange& item = state_->held.items()[slot];
  item.write = item.exists ? ItemChange::Write::fill_entries : ItemChange::Write::none;
}

// --- replicated writes

void Transaction::replicate(Slot slot, const WriteVersion& version, std::string_view item_bytes) {
  ItemChange& item = state_->held.items()[slot];
  const bool was_never_here = !item.exists && item.version.number == 0 && !item.version.gone();
  if (version.number <= item.version.number && !was_never_here) return;
  if (item_bytes.empty()) {
    remove(slot);
  } else {
    put_stored(slot, StoredItem(std::string(item_bytes)));
  }
  item.arrives = version;  // even if the item does not change
  item.arrives->tombstone = item_bytes.empty() ? 1 : 0;
}

void Transaction::arrived(std::string_view departure_key) { state_->staged.batch.erase(departure_key); }

void Transaction::forget_tombstone(Slot slot, Sequence tombstone) {
  const ItemChange& item = state_->held.items()[slot];
  const TableId id = table(slot).id;
  state_->staged.batch.erase(tombstone_key(id, tombstone, item.key));
  if (item.version.tombstone == tombstone) state_->staged.batch.erase(write_version_key(id, item.key));
}

// --- writing

void Transaction::commit() {
  State& state = *state_;
  MAYFLY_CHECK(state.held.are_held() || state.held.items().empty());
  MAYFLY_CHECK(!state.digest_before);
  state.spend_on_writes();
  Hurry::end();  // from here on, the commit cannot be abandoned
  state.write_mirrors();
  state.write();
  state.held.release();
}

void Transaction::State::spend_on_writes() const {
  for (const ItemChange& item : held.items()) {
    if (item.write == Write::none) continue;
    const std::size_t entries = 1 + held.table_of(item).indexes.size();
    Hurry::spend(nanoseconds_per_byte * entries *
                 (item.old_item.bytes().size() + item.new_item.bytes().size()));
  }
  if (Hurry::is_on() && path.committer.is_busy()) Hurry::give_way();
}

void Transaction::State::write_mirrors() {
  for (ItemChange& item : held.items()) {
    if (!item.mirrors) continue;
    const ItemChange& origin = held.items()[*item.mirrors];
    item.write = origin.write == Write::remove && !item.exists ? Write::none : origin.write;
    item.new_item = origin.new_item;
  }
}

void Transaction::State::write() {
  for (ItemChange& item : held.items()) stage(item);
  if (!token.empty()) path.tokens.stage_use(staged.batch, token, digest, now());
  if (staged.batch.empty()) return;
  if (std::any_of(held.tables().begin(), held.tables().end(),
                  [](const HeldTable& table) { return table.live->in_snapshot(); }))
    path.before_images.stage(staged.batch, account().image_keeper());
  staged.clock = &account().clock();
  staged.source = this;
  path.committer.commit(staged);
  follow_up();
}

void Transaction::State::stage(ItemChange& item) {
  const Table& table = held.table_of(item);
  const LiveTable& live = held.live_of(item);
  const WriteStage stage{path.storage, path.expiry, table, live, cause, item, staged, timers};
  switch (item.write) {
    case Write::none: break;
    case Write::put:
    case Write::remove:
      stage_item(stage);
      if (!table.indexes.empty()) stage_indexes(stage);
      if (table.ttl) stage_expiry(stage);
      if (table.stream) stage_record(stage);
      if (live.past() != LiveTable::Past::unwanted) stage_version(stage);
      break;
    case Write::forget_expiry: stage_forgotten_expiry(stage); break;
    case Write::fill_entries: stage_missing_entries(stage); break;
  }
  if (table.replicates()) stage_replicas(stage);
}

void Transaction::State::follow_up() {
  if (!staged.versions.empty()) {
    std::size_t bytes = 0;
    for (const StagedWrite::Version& version : staged.versions) bytes += version.bytes();
    path.versions_written(bytes);
  }
  if (!staged.replica_writes.empty()) path.sent_to_replicas(account());
  if (cause == Cause::time_to_live) {
    record_expiries();
  } else if (!timers.empty()) {
    expire_written();
  }
  for (const TimerQueue::Timer& timer : timers) account().timers().push(timer);
  for (const ItemChange& item : held.items())
    if (item.never || (removes_written && item.write == Write::remove)) note_suspect(item);
}

void Transaction::State::record_expiries() {
  for (const ItemChange& item : held.items()) {
    const Table& table = held.table_of(item);
    if (item.write != Write::remove || cause_of(item, table, cause) != cause) continue;
    held.live_of(item).expiry_stats().record(
        item.key,
        {.due = old_ttl(item, table).due.value_or(staged.at), .at = staged.at, .born_due = removes_written});
  }
}

// Remembers an item that never expires or was already due when it was written. Runs last, because it can
// throw std::bad_alloc.
// Requires: the item is committed, and it never expires or was already due when it was written.
void Transaction::State::note_suspect(const ItemChange& item) {
  const Table& description = held.table_of(item);
  const bool puts = item.puts();
  const Item keys = key_attributes(description.keys, puts ? item.new_item : item.old_item);
  const bool is_first = held.live_of(item).ttl_suspects().note(
      {.key = item.key, .key_attributes = keys, .never = item.never, .at = staged.at});
  const auto& told = path.never_expires;
  if (!is_first || !told) return;
  const std::optional<AttributeValue> ttl =
      stored_attribute(puts ? item.new_item.bytes() : item.old_item.bytes(), description.ttl->attribute);
  if (ttl) told(description, keys, *item.never, *ttl);
}

void Transaction::State::tell(ChangeFeed& feed, Instant at) const {
  for (const ItemChange& item : held.items()) {
    const bool puts = item.puts();
    if (!item.changes()) continue;
    const StagedWrite::Record* const record = item.record ? &staged.records[*item.record] : nullptr;
    feed.tell({.table = held.description_of(item),
               .kind = !puts         ? ChangeRecord::Kind::remove
                       : item.exists ? ChangeRecord::Kind::modify
                                     : ChangeRecord::Kind::insert,
               .cause = cause_of(item, held.table_of(item), cause),
               .at = at,
               .key = item.key,
               .old_item = item.exists ? item.old_item.bytes() : std::string_view{},
               .new_item = puts ? item.new_item.bytes() : std::string_view{},
               .sequence = record != nullptr ? std::optional(record->sequence) : std::nullopt,
               .shard = record != nullptr ? record->shard : 0});
  }
}

const std::vector<Transaction::IndexEffect>& Transaction::index_effects(Slot slot) const {
  return state_->held.items()[slot].effects;
}

}  // namespace mayfly::engine
