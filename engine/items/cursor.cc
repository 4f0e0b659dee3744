#include "engine/items/cursor.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/interleaving.h"
#include "engine/items/departed.h"
#include "engine/items/item_reader.h"
#include "engine/items/recent_writes.h"
#include "engine/schema/index_entries.h"
#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"
#include "engine/tables/catalog.h"
#include "engine/values/item_codec.h"
#include "engine/values/key_codec.h"

namespace mayfly::engine {

namespace {

// The state of an item before a write that the read does not see, and the position that the item had in the
// range before that write.
struct Earlier {
  std::string position;  // the key without table and index
  std::string item_key;
  std::string bytes;
};

// Returns the earlier states in the range, sorted in the order of the walk.
std::vector<Earlier> earlier_in(const KeyRange& range, const Table& table, const Unseen& unseen) {
  std::vector<Earlier> found;
  const auto index = std::find_if(table.indexes.begin(), table.indexes.end(),
                                  [&](const Index& each) { return each.id == range.index; });
  if (range.index != 0 && index == table.indexes.end()) return found;  // the index was dropped
  unseen.each([&](std::string_view key, const std::string& bytes) {
    if (bytes.empty()) return;
    std::string position =
        range.index == 0 ? std::string(key) : index_entry_key(table, *index, decode_item(bytes));
    if (position.empty() || position < range.lower || (!range.upper.empty() && position >= range.upper))
      return;
    found.push_back({std::move(position), std::string(key), bytes});
  });
  std::sort(found.begin(), found.end(), [&](const Earlier& a, const Earlier& b) {
    return range.forward ? a.position < b.position : b.position < a.position;
  });
  return found;
}

}  // namespace

struct Cursor::State {
  const Storage& storage;
  // Used only for an index: its entries and the items that they point to are read as of one instant.
  std::optional<Storage::Snapshot> snapshot;
  std::optional<Storage::Iterator> iterator;
  TableId table;
  IndexId index;
  bool forward;
  std::optional<Departed> departed;
  bool started = false;
  bool paused = false;
  StoredItem item;
  std::string item_key, bytes;  // reused buffers
  // Items that the read sees in an earlier state than the stored one. The walk skips the stored states of
  // these items and returns their earlier states at the right positions instead.
  Unseen unseen;
  std::vector<Earlier> earlier;
  std::size_t next_earlier = 0;
  bool at_earlier = false;

  State(const Storage& storage, const LiveTable& live) : storage(storage), table(live.id()) {}

  bool step();  // moves to the next entry, or to the first one
  void step_stored();
  [[nodiscard]] std::string_view stored_position() const;
  [[nodiscard]] std::string_view stored_item_key() const;
  bool read();  // reads the item at this entry; returns false if it has departed
};

Cursor::Cursor(const ItemReader& reader, const LiveTable& table, KeyRange range,
               const std::optional<Sight>& sight)
    : state_(std::make_unique<State>(reader.storage(), table)) {
  State& state = *state_;
  RecentWrites& recent = reader.recent_writes();
  const Commit horizon = sight ? recent.horizon(table, *sight) : RecentWrites::sees_all;
  state.index = range.index;
  state.forward = range.forward;
  const std::string prefix = item_key(state.table, range.index, {});
  const std::string upper = range.upper.empty() ? prefix_end(prefix) : prefix + range.upper;
  do {
    state.iterator.reset();
    state.departed.emplace(reader.failpoints(), table);
    if (range.index != 0) state.snapshot.emplace(state.storage);
    state.iterator.emplace(state.storage, prefix + range.lower, upper,
                           state.snapshot ? &*state.snapshot : nullptr);
  } while (!state.departed->is_current());
  if (!sight || !recent.any()) return;
  interleave("cursor made");
  state.unseen = recent.unseen(table, *sight, horizon);
  if (!state.unseen.empty()) state.earlier = earlier_in(range, *table.description(), state.unseen);
}

Cursor::~Cursor() {
  if (state_) state_->iterator.reset();  // the iterator must be destroyed before its snapshot
}
Cursor::Cursor(Cursor&&) noexcept = default;
Cursor& Cursor::operator=(Cursor&&) noexcept = default;

std::string_view Cursor::State::stored_position() const { return iterator->key().substr(item_prefix_bytes); }

std::string_view Cursor::State::stored_item_key() const {
  return index == 0 ? stored_position() : iterator->value();
}

void Cursor::State::step_stored() {
  do {
    if (!started) {
      started = true;
      forward ? iterator->seek_to_first() : iterator->seek_to_last();
    } else {
      forward ? iterator->next() : iterator->prev();
    }
  } while (!unseen.empty() && iterator->valid() && unseen.before(stored_item_key()) != nullptr);
}

bool Cursor::State::step() {
  if (at_earlier) {
    ++next_earlier;
  } else {
    step_stored();
  }
  at_earlier = false;
  const bool stored = iterator->valid();
  if (next_earlier == earlier.size()) return stored;
  const std::string& position = earlier[next_earlier].position;
  at_earlier = !stored || (forward ? position < stored_position() : stored_position() < position);
  return true;
}

bool Cursor::State::read() {
  if (at_earlier) {
    item.assign(earlier[next_earlier].bytes);
    return !departed->has(earlier[next_earlier].item_key, item.bytes());
  }
  if (index == 0) {
    item.assign(iterator->value());
    return !departed->has(stored_position(), item.bytes());
  }
  item_key.clear();
  append_item_key(item_key, table, 0, iterator->value());
  const bool found = storage.get(item_key, bytes, &*snapshot);
  MAYFLY_CHECK(found);  // an entry is written and erased with its item
  if (!found) throw StorageFault("an index entry points to a missing item");
  item.assign(bytes);
  return !departed->has(iterator->value(), bytes);
}

bool Cursor::next() {
  State& state = *state_;
  state.paused = false;
  for (std::size_t passed = 0; state.step();) {
    if (state.read()) return true;
    if (++passed == departed_max) {
      state.paused = true;
      return false;
    }
  }
  return false;
}

bool Cursor::paused() const { return state_->paused; }

const StoredItem& Cursor::item() const { return state_->item; }

std::string_view Cursor::key() const {
  return state_->at_earlier ? std::string_view(state_->earlier[state_->next_earlier].position)
                            : state_->stored_position();
}

}  // namespace mayfly::engine
