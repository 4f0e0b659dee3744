#include "engine/snapshots.h"

#include <cassert>
#include <map>

#include "engine/index_backfill.h"
#include "engine/item_codec.h"
#include "engine/key_codec.h"
#include "engine/key_space.h"
#include "engine/parts.h"

namespace mayfly::engine {
namespace {

constexpr std::string_view next_snapshot_key = "Mnext-snapshot";  // u32le
constexpr std::size_t account_bytes = 12;
constexpr std::size_t copied_at_once_bytes = 1 << 20;

std::string head_key(SnapshotId id) { return table_prefix('Z', id); }

std::string member_key(char kind, SnapshotId id, std::uint32_t member) {
  std::string key = table_prefix(kind, id);
  append_big_endian(key, member);
  return key;
}

template <class Description>
void put_member(Batch& batch, char kind, SnapshotId id, const Description& description) {
  std::string bytes;
  encode_item(to_item(description), bytes);
  batch.put(member_key(kind, id, description.id), bytes);
}

void erase_data(const Storage& storage, Batch& batch, std::string_view kinds, std::uint32_t id) {
  for (const char kind : kinds) {
    const std::string prefix = table_prefix(kind, id);
    storage.erase_range(batch, prefix, prefix_end(prefix));
  }
}

constexpr std::string_view table_data = "IXN", stream_data = "S";

}  // namespace

struct Snapshots::Kept {
  std::string clock;
  Sequence sequence = 0;
  std::vector<Table> tables;
  std::vector<Stream> streams;
};

struct Snapshots::Moves {
  std::vector<Table> tables;      // with their new ids
  std::vector<Stream> streams;    // likewise
  std::map<TableId, TableId> ids;  // of before -> new
  std::string marker;             // W's key: to be erased by whoever adopts the copy
};

Snapshots::Snapshots(Database& database) : database_(database) {
  Storage& storage = database_.parts().storage();
  Batch batch;
  Storage::Iterator markers(storage, "W", "X");
  for (markers.seek_to_first(); markers.valid(); markers.next()) {
    const std::string_view value = markers.value();
    const auto table_end = read_little_endian<TableId>(value);
    const auto stream = read_little_endian<StreamId>(value.substr(4)), stream_end =
        read_little_endian<StreamId>(value.substr(8));
    for (auto id = read_big_endian<TableId>(markers.key().substr(1)); id < table_end; ++id)
      erase_data(storage, batch, table_data, id);
    for (StreamId id = stream; id < stream_end; ++id) erase_data(storage, batch, stream_data, id);
    batch.erase(markers.key());
  }
  if (!batch.empty()) storage.write(batch);
}

// --- copying

void Snapshots::copy_keys(const std::string& from, const std::string& to, const Storage::Snapshot* at) {
  Storage& storage = database_.parts().storage();
  Storage::Iterator iterator(storage, from, prefix_end(from), at);
  Batch batch;
  std::size_t bytes = 0;
  std::string key = to;
  for (iterator.seek_to_first(); iterator.valid(); iterator.next()) {
    key.resize(to.size());
    key.append(iterator.key().substr(from.size()));
    batch.put(key, iterator.value());
    bytes += key.size() + iterator.value().size();
    if (bytes < copied_at_once_bytes) continue;
    storage.write(batch);
    batch.clear();
    bytes = 0;
  }
  if (!batch.empty()) storage.write(batch);
}

Snapshots::Moves Snapshots::copy(std::vector<Table> tables, std::vector<Stream> streams, const Storage::Snapshot* at) {
  Moves moves;
  const auto table_count = static_cast<TableId>(tables.size());
  const auto stream_count = static_cast<StreamId>(streams.size());
  const Catalog::Ids first = database_.parts().catalog.reserve_ids(
      table_count, stream_count, [&](Catalog::Ids ids, Batch& batch) {
        moves.marker = table_prefix('W', ids.table);
        std::string value;
        append_little_endian(value, ids.table + table_count);
        append_little_endian(value, ids.stream);
        append_little_endian(value, ids.stream + stream_count);
        batch.put(moves.marker, value);
      });

  std::map<StreamId, Stream> moved_streams;
  StreamId stream_id = first.stream;
  for (Stream& stream : streams) {
    copy_keys(table_prefix('S', stream.id), table_prefix('S', stream_id), at);
    const StreamId before = stream.id;
    stream.id = stream_id++;
    moved_streams[before] = std::move(stream);
  }
  TableId table_id = first.table;
  for (Table& table : tables) {
    for (const char kind : table_data) copy_keys(table_prefix(kind, table.id), table_prefix(kind, table_id), at);
    moves.ids[table.id] = table_id;
    for (auto& [before, stream] : moved_streams)
      if (stream.table == table.id) stream.table = table_id;
    if (table.stream) table.stream = moved_streams.at(table.stream->id);
    table.id = table_id++;
    moves.tables.push_back(std::move(table));
  }
  for (auto& [before, stream] : moved_streams) moves.streams.push_back(std::move(stream));
  return moves;
}

// --- taking

SnapshotId Snapshots::take(Account& account) {
  Database::Parts& parts = database_.parts();
  assert(account.id().size() == account_bytes);
  struct Counts {
    TableId table;
    IndexId index;
    std::int64_t items, bytes;
  };
  std::vector<Table> tables;
  std::vector<Stream> streams;
  std::vector<Counts> counts;
  std::optional<Storage::Snapshot> at;
  Sequence sequence = 0;
  std::string clock;
  {
    const std::lock_guard moving(account.moving());
    parts.catalog.hold_still(account.id(), [&](const std::vector<std::shared_ptr<LiveTable>>& live_tables) {
      at.emplace(parts.storage());
      for (const auto& live : live_tables) {
        tables.push_back(*live->description());
        live->each_counter([&](IndexId index, const Counter& counter) {
          counts.push_back({live->id(), index, counter.items, counter.bytes});
        });
      }
      for (Stream& stream : parts.catalog.streams())
        if (stream.account == account.id()) streams.push_back(std::move(stream));
      sequence = parts.committer.published();
      clock = account.bytes();
    });
  }
  const Moves moves = copy(std::move(tables), std::move(streams), &*at);

  Batch batch;
  std::string value;
  const SnapshotId id = parts.storage().get(next_snapshot_key, value) ? read_little_endian<SnapshotId>(value) : 1;
  value.clear();
  append_little_endian(value, id + 1);
  batch.put(next_snapshot_key, value);
  value = account.id();
  append_little_endian(value, sequence);
  batch.put(head_key(id), value + clock);
  for (const Table& table : moves.tables) put_member(batch, 'Y', id, table);
  for (const Stream& stream : moves.streams) put_member(batch, 'V', id, stream);
  // In memory nobody writes counters; with the copy they are needed.
  for (const Counts& count : counts) {
    value.clear();
    append_little_endian(value, count.items);
    append_little_endian(value, count.bytes);
    batch.put(counter_key(moves.ids.at(count.table), count.index), value);
  }
  batch.erase(moves.marker);
  parts.storage().write(batch);
  return id;
}

// --- bringing back

std::optional<Snapshots::Kept> Snapshots::find(const Account& account, SnapshotId id) const {
  const Storage& storage = database_.parts().storage();
  std::string head;
  if (!storage.get(head_key(id), head) || std::string_view(head).substr(0, account_bytes) != account.id())
    return std::nullopt;
  Kept kept;
  kept.sequence = read_little_endian<Sequence>(std::string_view(head).substr(account_bytes));
  kept.clock = head.substr(account_bytes + sizeof(Sequence));
  const auto each = [&](char kind, auto visit) {
    const std::string prefix = table_prefix(kind, id);
    Storage::Iterator members(storage, prefix, prefix_end(prefix));
    for (members.seek_to_first(); members.valid(); members.next()) visit(decode_item(members.value()));
  };
  each('Y', [&](const Item& item) { kept.tables.push_back(table_from_item(item)); });
  each('V', [&](const Item& item) { kept.streams.push_back(stream_from_item(item)); });
  return kept;
}

bool Snapshots::restore(Account& account, SnapshotId id) {
  Database::Parts& parts = database_.parts();
  const std::lock_guard moving(account.moving());
  std::optional<Kept> kept = find(account, id);
  if (!kept) return false;
  Moves moves = copy(std::move(kept->tables), std::move(kept->streams), nullptr);

  parts.catalog.replace(
      account, std::move(moves.tables), std::move(moves.streams), kept->sequence, parts.committer,
      [&](Batch& batch) {
        batch.erase(moves.marker);
        parts.tokens.stage_forgetting(batch, account.id());
        parts.accounts.stage_rewinding(batch, account, kept->clock);
      },
      [&] { account.rewind(kept->clock); });
  adopt(account);
  return true;
}

void Snapshots::adopt(Account& account) {
  Database::Parts& parts = database_.parts();
  for (const auto& table : parts.catalog.tables(account.id())) {
    const std::shared_ptr<const Table> description = table->description();
    if (description->ttl) account.timers().push({table->id(), 0, 0});
    if (BackfillWalk::needed(*description)) parts.backfill->start(table, *description, 0);
  }
  parts.accounts.bell().ring();
}

// --- forgetting

void Snapshots::stage_dropping(Batch& batch, const Kept& kept, SnapshotId id) const {
  const Storage& storage = database_.parts().storage();
  for (const Table& table : kept.tables) {
    erase_data(storage, batch, table_data, table.id);
    batch.erase(member_key('Y', id, table.id));
  }
  for (const Stream& stream : kept.streams) {
    erase_data(storage, batch, stream_data, stream.id);
    batch.erase(member_key('V', id, stream.id));
  }
  batch.erase(head_key(id));
}

bool Snapshots::drop(const Account& account, SnapshotId id) {
  const std::optional<Kept> kept = find(account, id);
  if (!kept) return false;
  Batch batch;
  stage_dropping(batch, *kept, id);
  database_.parts().storage().write(batch);
  return true;
}

std::vector<SnapshotId> Snapshots::list(const Account& account) const {
  std::vector<SnapshotId> ids;
  Storage::Iterator heads(database_.parts().storage(), "Z", "[");
  for (heads.seek_to_first(); heads.valid(); heads.next())
    if (heads.value().substr(0, account_bytes) == account.id())
      ids.push_back(read_big_endian<SnapshotId>(heads.key().substr(1)));
  return ids;
}

void Snapshots::reset(Account& account) {
  Database::Parts& parts = database_.parts();
  const std::lock_guard moving(account.moving());
  const std::vector<SnapshotId> ids = list(account);
  parts.catalog.replace(
      account, {}, {}, 0, parts.committer,
      [&](Batch& batch) {
        for (const SnapshotId id : ids) stage_dropping(batch, *find(account, id), id);
        parts.tokens.stage_forgetting(batch, account.id());
        parts.accounts.stage_forgetting(batch, account);
      },
      [&] { parts.accounts.begin_anew(account); });
  parts.accounts.bell().ring();
}

}  // namespace mayfly::engine
