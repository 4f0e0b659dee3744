#include "engine/cursor.h"

#include <cassert>
#include <optional>

#include "engine/catalog.h"
#include "engine/departed.h"
#include "engine/item_codec.h"
#include "engine/key_codec.h"
#include "engine/key_space.h"
#include "engine/parts.h"
#include "engine/storage.h"

namespace mayfly::engine {

// --- StoredItem

std::size_t StoredItem::size() const { return stored_item_size(bytes_); }

const Item& StoredItem::item() const {
  if (!decoded_) {
    item_ = decode_item(bytes_);
    decoded_ = true;
  }
  return item_;
}

Item StoredItem::take() && {
  if (!decoded_) return decode_item(bytes_);
  decoded_ = false;
  return std::move(item_);
}

void StoredItem::assign(std::string_view bytes) {
  bytes_.assign(bytes);
  decoded_ = false;
}

// --- Cursor

struct Cursor::State {
  const Storage& storage;
  // An index's entries point to items: both are read at one instant.
  std::optional<Storage::Snapshot> snapshot;
  std::optional<Storage::Iterator> iterator;
  TableId table;
  IndexId index;
  bool forward;
  Departed departed;
  bool started = false;
  bool paused = false;
  StoredItem item;
  std::string item_key, bytes;  // their buffers are kept

  State(const Database& database, const LiveTable& live)
      : storage(database.parts().storage()), table(live.id()), departed(database, live) {}

  bool step();  // to the next entry, or the first
  bool read();  // the item that it is or points to; false: it has departed
};

Cursor::Cursor(const Database& database, const LiveTable& table, KeyRange range)
    : state_(std::make_unique<State>(database, table)) {
  State& state = *state_;
  state.index = range.index;
  state.forward = range.forward;
  if (range.index != 0) state.snapshot.emplace(state.storage);
  const std::string prefix = item_key(state.table, range.index, {});
  const std::string upper = range.upper.empty() ? prefix_end(prefix) : prefix + range.upper;
  state.iterator.emplace(state.storage, prefix + range.lower, upper,
                         state.snapshot ? &*state.snapshot : nullptr);
}

Cursor::~Cursor() {
  if (state_) state_->iterator.reset();  // before its snapshot
}
Cursor::Cursor(Cursor&&) noexcept = default;
Cursor& Cursor::operator=(Cursor&&) noexcept = default;

bool Cursor::State::step() {
  if (!started) {
    started = true;
    forward ? iterator->seek_to_first() : iterator->seek_to_last();
  } else {
    forward ? iterator->next() : iterator->prev();
  }
  return iterator->valid();
}

bool Cursor::State::read() {
  if (index == 0) {
    item.assign(iterator->value());
    return !departed.has(iterator->key().substr(item_prefix_bytes), item.bytes());
  }
  item_key.clear();
  append_item_key(item_key, table, 0, iterator->value());
  const bool found = storage.get(item_key, bytes, &*snapshot);
  assert(found);  // an entry is written and erased with its item
  if (!found) throw StorageFault("an index entry points to no item");
  item.assign(bytes);
  return !departed.has(iterator->value(), bytes);
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

std::string_view Cursor::key() const { return state_->iterator->key().substr(item_prefix_bytes); }

}  // namespace mayfly::engine
