#include "engine/items/history_cursor.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "engine/items/departed.h"
#include "engine/items/item_reader.h"
#include "engine/items/past_walk.h"
#include "engine/schema/expiry_mode.h"
#include "engine/schema/item_version.h"
#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"
#include "engine/tables/catalog.h"
#include "engine/time/expiry_index.h"

namespace mayfly::engine {
namespace {

// Whether an item with these stored bytes had fired by the end of instant `at`.
bool had_fired(const Table& table, std::string_view stored, Instant at) {
  return table.ttl && at >= table.ttl->since && has_fired(table, stored, at);
}

// Returns the table's description in the snapshot; nullopt if, according to this description, `at` cannot be
// restored.
std::optional<Table> description_at(const Storage& storage, const Storage::Snapshot& snapshot, TableId id,
                                    Instant at) {
  std::string stored;
  if (!storage.get(table_prefix('T', id), stored, &snapshot)) return std::nullopt;
  Table table = decoded(decode_table(stored), "a table's description");
  // The recovery period is not checked: an instant that is older than the period stays readable until the
  // trimmer gives it up.
  if (!table.recovery || at < std::max(table.recovery->since, table.recovery->given_up)) return std::nullopt;
  return table;
}

}  // namespace

// --- past state

struct HistoryCursor::State {
  Storage::Snapshot snapshot;
  std::optional<PastWalk> walk;  // nullopt if gone() is true
  Table table;
  std::optional<VersionNumber> number;  // the point's number; nullopt without a point
  bool by_instant = true;
  Instant at = 0;
  StoredItem item;

  explicit State(const Storage& storage) : snapshot(storage) {}

  // Returns the stored item that the walk's current key had in the past state; nullopt if the key had no
  // item.
  std::optional<std::string_view> then() {
    if (!by_instant) return walk->at(*number);
    const auto is_earlier = [&] {
      return version_at(walk->version()) <= at && (!number || walk->number() <= *number);
    };
    while (walk->has_version() && is_earlier()) walk->next_version();
    return walk->has_version() ? version_item(walk->version()) : walk->item();
  }
};

HistoryCursor::HistoryCursor(const ItemReader& reader, const Point& point)
    : state_(std::make_unique<State>(reader.storage())) {
  const Storage& storage = reader.storage();
  std::string stored;
  if (!storage.get(point_key(point.id), stored, &state_->snapshot)) return;
  state_->table = point.table;
  state_->number = point.number;
  state_->by_instant = point.by_instant;
  state_->at = point.at;
  state_->walk.emplace(storage, state_->snapshot, point.table.id);
}

HistoryCursor::HistoryCursor(const ItemReader& reader, const LiveTable& table, Instant at)
    : state_(std::make_unique<State>(reader.storage())) {
  const Storage& storage = reader.storage();
  std::optional<Table> description = description_at(storage, state_->snapshot, table.id(), at);
  if (!description) return;
  state_->table = *std::move(description);
  state_->at = at;
  state_->walk.emplace(storage, state_->snapshot, table.id());
}

HistoryCursor::~HistoryCursor() {
  if (state_) state_->walk.reset();  // the walk must be destroyed before its snapshot
}
HistoryCursor::HistoryCursor(HistoryCursor&&) noexcept = default;
HistoryCursor& HistoryCursor::operator=(HistoryCursor&& other) noexcept {
  if (state_) state_->walk.reset();
  state_ = std::move(other.state_);
  return *this;
}

bool HistoryCursor::gone() const { return !state_->walk; }

bool HistoryCursor::next() {
  State& state = *state_;
  while (state.walk && state.walk->next()) {
    const std::optional<std::string_view> stored = state.then();
    if (!stored || had_fired(state.table, *stored, state.at)) continue;
    state.item.assign(*stored);
    return true;
  }
  return false;
}

std::string_view HistoryCursor::key() const { return state_->walk->key(); }

const StoredItem& HistoryCursor::item() const { return state_->item; }

// --- changes

struct HistoryChanges::State {
  Storage::Snapshot snapshot;
  std::optional<PastWalk> walk;  // nullopt if gone() is true
  Table table;
  Instant from = 0, to = 0;
  bool had_old = false, has_new = false;
  StoredItem old_item, new_item;
  Instant written = 0;

  explicit State(const Storage& storage) : snapshot(storage) {}

  bool changed();
};

HistoryChanges::HistoryChanges(const ItemReader& reader, const LiveTable& table, Instant from, Instant to)
    : state_(std::make_unique<State>(reader.storage())) {
  const Storage& storage = reader.storage();
  std::optional<Table> description = description_at(storage, state_->snapshot, table.id(), from);
  if (!description) return;
  state_->table = *std::move(description);
  state_->from = from;
  state_->to = to;
  state_->walk.emplace(storage, state_->snapshot, table.id());
}

HistoryChanges::~HistoryChanges() {
  if (state_) state_->walk.reset();  // the walk must be destroyed before its snapshot
}
HistoryChanges::HistoryChanges(HistoryChanges&&) noexcept = default;
HistoryChanges& HistoryChanges::operator=(HistoryChanges&& other) noexcept {
  if (state_) state_->walk.reset();
  state_ = std::move(other.state_);
  return *this;
}

bool HistoryChanges::gone() const { return !state_->walk; }

// Whether the current key was written after `from` and up to `to`. If so, sets the images and `written`.
bool HistoryChanges::State::changed() {
  had_old = has_new = false;
  std::optional<Instant> last;
  while (walk->has_version() && version_at(walk->version()) <= from) walk->next_version();
  const auto take = [&](std::optional<std::string_view> stored, Instant at, StoredItem& into) {
    const bool is_there = stored && !had_fired(table, *stored, at);
    if (is_there) into.assign(*stored);
    return is_there;
  };
  // Each version holds the item's state before one write. That state began with the previous write or at
  // `from`.
  bool first = true;
  std::optional<Instant> reaped;
  for (; walk->has_version() && version_at(walk->version()) <= to; walk->next_version()) {
    const auto stored = version_item(walk->version());
    if (std::exchange(first, false)) {
      had_old = take(stored, from, old_item);
      if (stored && !had_old) {
        reaped = version_at(walk->version());
        continue;
      }
    }
    last = version_at(walk->version());
  }
  const auto stored = walk->has_version() ? version_item(walk->version()) : walk->item();
  if (first) had_old = take(stored, from, old_item);
  has_new = take(stored, to, new_item);
  // If an item that had expired by `from` was only removed, that is not a write. If another item replaced it,
  // that is a write.
  if (reaped && !last && stored) last = reaped;
  // The item expired between `from` and `to`, and the reaper had not removed it by `to`.
  if (stored && !has_new && (had_old || last)) {
    const Instant fired = fires_at(table, *due_of_stored(table, *stored));
    last = std::max({last.value_or(fired), fired, table.ttl->since});
  }
  if (!last) return false;
  written = std::min(*last, to);
  return true;
}

bool HistoryChanges::next() {
  while (state_->walk && state_->walk->next())
    if (state_->changed()) return true;
  return false;
}

std::string_view HistoryChanges::key() const { return state_->walk->key(); }

const StoredItem* HistoryChanges::old_image() const { return state_->had_old ? &state_->old_item : nullptr; }

const StoredItem* HistoryChanges::new_image() const { return state_->has_new ? &state_->new_item : nullptr; }

Instant HistoryChanges::written() const { return state_->written; }

}  // namespace mayfly::engine
