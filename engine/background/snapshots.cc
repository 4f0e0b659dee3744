#include "engine/background/snapshots.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "engine/background/history_trimmer.h"
#include "engine/background/index_backfill.h"
#include "engine/background/replication.h"
#include "engine/background/stream_trimmer.h"
#include "engine/base/check.h"
#include "engine/base/interleaving.h"
#include "engine/items/failpoints.h"
#include "engine/items/recent_writes.h"
#include "engine/items/request_tokens.h"
#include "engine/storage/documents.h"
#include "engine/storage/key_space.h"
#include "engine/tables/points.h"
#include "engine/tables/replica_log.h"
#include "engine/values/account_id.h"
#include "engine/values/item_codec.h"
#include "engine/values/key_codec.h"

namespace mayfly::engine {
namespace {

constexpr std::size_t account_bytes = 12;
constexpr std::size_t head_bytes = account_bytes + sizeof(Sequence) + sizeof(ImageLog);
constexpr std::string_view member_kinds = "HJKEL";

std::string head_key(SnapshotId id) { return table_prefix('G', id); }

std::string name_of(std::uint32_t member) {
  std::string name;
  append_big_endian(name, member);
  return name;
}

// The part of the key after the kind and the snapshot's id.
std::string_view member_name(std::string_view key) { return key.substr(1 + sizeof(SnapshotId)); }

std::string head_value(const Account& account, Sequence sequence, ImageLog log, std::string_view clock) {
  std::string value = account.id();
  append_little_endian(value, sequence);
  append_little_endian(value, log);
  return value.append(clock);
}

// Reads the last ids that were assigned.
// Requires: the caller is in Catalog::hold_still or Catalog::replace, so that no other thread assigns ids.
SnapshotIds last_ids(const Storage& storage) {
  std::string value;
  if (!storage.get(last_snapshot_ids_key, value)) return {};
  const auto ids = snapshot_ids(value);
  if (!ids) throw StorageFault("the last snapshot's ids cannot be decoded");
  return *ids;
}

// Keeps all requests of an account out while the account's state is replaced. Replication steps skip the
// account in the meantime, so the destructor wakes replication.
class Replacing {
 public:
  Replacing(Replication& replication, Account& account)
      : replication_(replication), account_(account), alone_(account.requests()) {}
  ~Replacing() {
    alone_.unlock();
    replication_.wake(account_);
  }
  Replacing(const Replacing&) = delete;
  Replacing& operator=(const Replacing&) = delete;

 private:
  Replication& replication_;
  Account& account_;
  std::unique_lock<Gate> alone_;
};

// Returns the ranges [from, to) of the sequence numbers, from `begin` on, that records of the stream may
// have. The ranges leave out the numbers of undone records.
std::vector<std::pair<Sequence, Sequence>> recorded_ranges(const Stream& stream, Sequence begin) {
  std::vector<Undoing> undone = stream.undone;
  std::sort(undone.begin(), undone.end(),
            [](const Undoing& a, const Undoing& b) { return a.first < b.first; });
  std::vector<std::pair<Sequence, Sequence>> ranges;
  for (const Undoing& undoing : undone) {
    if (undoing.first > begin) ranges.emplace_back(begin, undoing.first);
    begin = std::max(begin, undoing.last + 1);
  }
  ranges.emplace_back(begin, std::numeric_limits<Sequence>::max());
  return ranges;
}

// Returns the undone records of a stream that is restored to `sequence`: those that were already undone when
// the snapshot was taken, those that were undone later and that the restore does not bring back, and those
// that this restore undoes.
std::vector<Undoing> undone_after(const Stream& kept, const Stream* live, Sequence sequence,
                                  const std::optional<Undoing>& now) {
  std::vector<Undoing> undone = kept.undone;
  const std::uint32_t known = kept.last_restore();
  if (live) {
    for (const Undoing& undoing : live->undone)
      if (undoing.number > known && undoing.last > sequence)
        undone.push_back({undoing.number, std::max(undoing.first, sequence + 1), undoing.last});
  }
  if (now) undone.push_back(*now);
  if (undone.size() > Stream::undone_max)
    undone.erase(undone.begin(), undone.end() - static_cast<std::ptrdiff_t>(Stream::undone_max));
  return undone;
}

// Returns the sequence number in the key of a change record, old version, tombstone or departure; nullopt if
// the key has no such number.
std::optional<Sequence> sequence_in(std::string_view key) {
  switch (key.front()) {
    case 'S': return record_sequence(key);
    case 'O': return version_number(key);
    case 'F':
    case 'Y': return replica_sequence(key);
    default: return std::nullopt;
  }
}

std::uint32_t id_in(std::string_view key) { return read_big_endian<std::uint32_t>(key.substr(1)); }

}  // namespace

std::string bytes_of(const SnapshotIds& ids) {
  std::string bytes;
  append_little_endian(bytes, ids.snapshot);
  append_little_endian(bytes, ids.log);
  append_little_endian(bytes, ids.restore);
  return bytes;
}

std::optional<SnapshotIds> snapshot_ids(std::string_view bytes) {
  if (bytes.size() != 3 * sizeof(std::uint32_t)) return std::nullopt;
  return SnapshotIds{read_little_endian<std::uint32_t>(bytes),
                     read_little_endian<std::uint32_t>(bytes.substr(4)),
                     read_little_endian<std::uint32_t>(bytes.substr(8))};
}

std::optional<StoredHead> stored_head(std::string_view key, std::string_view value, const Clock& host) {
  if (key.size() != 1 + sizeof(SnapshotId) || value.size() < head_bytes) return std::nullopt;
  const std::string_view account = value.substr(0, account_bytes);
  const std::optional<Instant> now = Account::now_in(value.substr(head_bytes), host);
  if (!is_account_id(account) || !now) return std::nullopt;
  return StoredHead{std::string(account), read_little_endian<Sequence>(value.substr(account_bytes)),
                    read_little_endian<ImageLog>(value.substr(account_bytes + sizeof(Sequence))), *now};
}

struct Snapshots::Kept {
  std::string clock;
  std::vector<Table> tables;
  std::vector<Stream> streams;
  std::vector<std::pair<std::string, std::string>> counters;   // keys of kind 'N' and values
  std::vector<std::pair<std::string, std::string>> documents;  // keys of kind 'D' and values
  std::vector<Point> points;
};

// The changes are sorted by key, so that a batch writes the keys in order.
struct Snapshots::Changes {
  std::map<std::string, std::optional<std::string>, std::less<>> to;  // nullopt: the key is erased
  std::map<StreamId, Sequence> first_undone;                          // for streams with later records
};

Snapshots::Snapshots(const Uses& uses) : uses_(uses) {
  const Storage& storage = uses_.storage;
  std::map<std::string, Heads> loaded;
  Storage::Iterator copies(storage, "Z", "[");  // earlier Mayfly versions kept copies of accounts here
  copies.seek_to_first();
  if (copies.valid())
    throw StorageFault(
        "its snapshots were taken by an earlier version of Mayfly; use that version to delete them");
  Storage::Iterator heads(storage, "G", "H");
  for (heads.seek_to_first(); heads.valid(); heads.next()) {
    const auto says = stored_head(heads.key(), heads.value(), uses_.accounts.host());
    if (!says) throw StorageFault("a snapshot's head cannot be decoded");
    const SnapshotId id = id_in(heads.key());
    Head head{says->log, says->sequence, nullptr, nullptr};
    std::vector<TableId> tables;
    each_member('H', id, head, [&](std::string_view name, std::string_view) {
      tables.push_back(read_big_endian<TableId>(name));
    });
    each_member('L', id, head, [&](std::string_view name, std::string_view value) {
      tables.push_back(
          decoded(decode_point(std::string("P").append(name), value), "a snapshot's point").table.id);
    });
    SnapshotHeads::add(loaded[says->account], id, std::move(head), std::move(tables));
  }
  for (auto& [account, heads_of_account] : loaded)
    set_heads(uses_.accounts.of(account), std::move(heads_of_account));
}

// --- lookups

// Makes writers save images for these snapshots from now on.
// Requires: no thread writes to the account's tables.
void Snapshots::set_heads(Account& account, Heads heads) {
  const auto latest = heads.rbegin();
  account.keep_images(heads.empty() ? ImageKeeper{}
                                    : ImageKeeper{latest->second.log, latest->second.sequence});
  for (const auto& table : uses_.catalog.tables(account.id()))
    Catalog::keep_images(*table, SnapshotHeads::has(heads, table->id()));
  uses_.heads.set(account.id(), std::move(heads));
}

void Snapshots::each_member(char kind, SnapshotId id, const Head& head,
                            const SnapshotMembers::Visit& visit) const {
  if (head.members) return head.members->each(kind, visit);
  const std::string prefix = table_prefix(kind, id);
  Storage::Iterator members(uses_.storage, prefix, prefix_end(prefix));
  for (members.seek_to_first(); members.valid(); members.next())
    visit(member_name(members.key()), members.value());
}

bool Snapshots::each_member(std::string_view account, SnapshotId id, char kind,
                            const SnapshotMembers::Visit& visit) const {
  const std::optional<Head> head = uses_.heads.find(account, id);
  if (!head) return false;
  each_member(kind, id, *head, visit);
  return true;
}

std::vector<SnapshotId> Snapshots::list(std::string_view account) const {
  std::vector<SnapshotId> ids;
  for (const auto& [id, head] : uses_.heads.of(account)) ids.push_back(id);
  return ids;
}

Snapshots::Kept Snapshots::read(const Account& account, SnapshotId id, const Head& head) const {
  const Storage& storage = uses_.storage;
  std::string stored;
  if (!storage.get(head_key(id), stored)) throw StorageFault("a snapshot has no head");
  Kept kept;
  kept.clock = stored.substr(head_bytes);
  each_member('H', id, head, [&](std::string_view, std::string_view value) {
    kept.tables.push_back(decoded(decode_table(value), "a snapshot's table"));
  });
  each_member('J', id, head, [&](std::string_view, std::string_view value) {
    kept.streams.push_back(decoded(decode_stream(value), "a snapshot's stream"));
  });
  each_member('K', id, head, [&](std::string_view name, std::string_view value) {
    kept.counters.emplace_back(std::string("N").append(name), value);
  });
  each_member('E', id, head, [&](std::string_view name, std::string_view value) {
    kept.documents.emplace_back(Documents::state_prefix(account.id()).append(name), value);
  });
  each_member('L', id, head, [&](std::string_view name, std::string_view value) {
    kept.points.push_back(decoded(decode_point(std::string("P").append(name), value), "a snapshot's point"));
  });
  return kept;
}

// --- taking

void Snapshots::put_members(const std::vector<std::shared_ptr<LiveTable>>& tables, const Account& account,
                            const Put& put) const {
  const auto put_counter = [&](TableId table, IndexId index, std::int64_t items, std::int64_t bytes) {
    std::string name = name_of(table), value;
    append_big_endian(name, index);
    append_little_endian(value, items);
    append_little_endian(value, bytes);
    put('K', name, value);
  };
  for (const auto& live : tables) {
    put('H', name_of(live->id()), encode_description(*live->description()));
    live->each_counter([&](IndexId index, const Counter& counter) {
      put_counter(live->id(), index, counter.items, counter.bytes);
    });
  }
  std::set<TableId> dropped;
  for (const Point& point : uses_.points.of(account.id())) {
    put('L', name_of(point.id), point_bytes(point));
    if (const auto left = uses_.points.left(point.table.id); left && dropped.insert(point.table.id).second)
      put_counter(point.table.id, old_versions, left->versions, left->bytes);
  }
  for (const Stream& stream : uses_.catalog.streams(account.id()))
    put('J', name_of(stream.id), encode_description(stream));
  const std::string state = Documents::state_prefix(account.id());
  Storage::Iterator documents(uses_.storage, state, prefix_end(state));
  for (documents.seek_to_first(); documents.valid(); documents.next())
    put('E', documents.key().substr(state.size()), documents.value());
}

SnapshotId Snapshots::take(std::string_view account) { return *take(account, no_limit); }

std::optional<SnapshotId> Snapshots::take(std::string_view of, std::size_t snapshots_max) {
  Account& account = uses_.accounts.of(of);
  MAYFLY_CHECK(account.id().size() == account_bytes);
  const Account::Turn turn = account.take_turn();
  Heads heads = uses_.heads.of(account.id());
  if (heads.size() >= snapshots_max) return std::nullopt;
  SnapshotIds ids;
  uses_.catalog.hold_still(account.id(), [&](const Catalog::Tables& tables) {
    ids = last_ids(uses_.storage);
    ++ids.snapshot;
    ++ids.log;
    Head head{ids.log, uses_.watermark.published(), nullptr, nullptr};
    Batch batch;
    batch.put(last_snapshot_ids_key, bytes_of(ids));
    batch.put(head_key(ids.snapshot), head_value(account, head.sequence, head.log, account.bytes()));
    if (uses_.storage.durable()) {
      put_members(tables, account, [&](char kind, std::string_view name, std::string_view value) {
        batch.put(table_prefix(kind, ids.snapshot).append(name), value);
      });
    } else {
      SnapshotMembers::Builder members;
      put_members(tables, account, [&](char kind, std::string_view name, std::string_view value) {
        members.add(kind, name, value);
      });
      head.members = members.build(uses_.storage, heads.empty() ? nullptr : heads.rbegin()->second.members);
    }
    uses_.storage.write(batch);

    std::vector<TableId> needed;
    for (const auto& table : tables) needed.push_back(table->id());
    for (const Point& point : uses_.points.of(account.id())) needed.push_back(point.table.id);
    SnapshotHeads::add(heads, ids.snapshot, std::move(head), std::move(needed));
    set_heads(account, std::move(heads));
    interleave("snapshot taken");
  });
  return ids.snapshot;
}

// --- restoring

Snapshots::Changes Snapshots::changes_since(const Heads& heads, SnapshotId id, const Kept& kept) const {
  const Head& head = heads.at(id);
  std::set<StreamId> streams;
  for (const Stream& stream : kept.streams) streams.insert(stream.id);
  // The data of a table that only earlier snapshots contain is still in place, and must be restored as well:
  // a restore of one of those snapshots may have brought the table back, and the table may have changed since
  // then.
  std::set<TableId> tables;
  const std::vector<TableId>* seen = nullptr;
  for (auto earlier = heads.begin(); earlier != std::next(heads.find(id)); ++earlier) {
    const std::vector<TableId>& theirs = *earlier->second.tables;
    if (std::exchange(seen, &theirs) != &theirs) tables.insert(theirs.begin(), theirs.end());
  }
  const auto is_kept = [&](std::string_view key) {
    if (sequence_in(key).value_or(0) > head.sequence) return false;
    return key.front() == 'S' ? streams.count(id_in(key)) > 0 : tables.count(id_in(key)) > 0;
  };

  Changes changes;
  for (auto later = heads.find(id); later != heads.end(); ++later) {
    uses_.before_images.each(later->second.log, [&](std::string_view key, const auto& value) {
      if (is_kept(key)) changes.to.try_emplace(std::string(key), value);  // keeps the earliest image
    });
  }
  // Erase old versions that were stored after the snapshot. They can only belong to items that have changed
  // since then.
  std::vector<std::string> later_versions;
  for (const auto& [key, value] : changes.to) {
    if (key.front() != 'I' ||
        read_big_endian<IndexId>(std::string_view(key).substr(1 + sizeof(TableId))) != 0)
      continue;
    const TableId table = id_in(key);
    const std::string_view item = std::string_view(key).substr(item_prefix_bytes);
    Storage::Iterator versions(uses_.storage, version_key(table, item, head.sequence + 1),
                               version_key(table, item, std::numeric_limits<VersionNumber>::max()));
    for (versions.seek_to_first(); versions.valid(); versions.next())
      later_versions.emplace_back(versions.key());
  }
  for (std::string& key : later_versions) changes.to[std::move(key)] = std::nullopt;
  // Erase tombstones and departures that were stored after the snapshot.
  for (const TableId table : tables) {
    for (const char kind : {'F', 'Y'}) {
      const std::string prefix = table_prefix(kind, table);
      Storage::Iterator keys(uses_.storage, prefix, prefix_end(prefix));
      for (keys.seek_to_first(); keys.valid(); keys.next())
        if (replica_sequence(keys.key()) > head.sequence) changes.to[std::string(keys.key())] = std::nullopt;
    }
  }
  // Erase records that were stored after the snapshot. Skip ranges that earlier restores have undone: they
  // contain only RocksDB's tombstones.
  for (const Stream& stream : kept.streams) {
    const std::optional<Stream> live = uses_.catalog.find_stream(stream.id);
    if (!live) continue;
    for (const Shard& shard : live->shards) {
      for (const auto& [begin, end] : recorded_ranges(*live, head.sequence + 1)) {
        Storage::Iterator records(uses_.storage, record_key(stream.id, shard.number, begin),
                                  record_key(stream.id, shard.number, end));
        for (records.seek_to_first(); records.valid(); records.next()) {
          const Sequence sequence = record_sequence(records.key());
          const auto first = changes.first_undone.try_emplace(stream.id, sequence).first;
          first->second = std::min(first->second, sequence);
          changes.to[std::string(records.key())] = std::nullopt;
        }
      }
    }
  }
  return changes;
}

bool Snapshots::restore(std::string_view of, SnapshotId id) {
  Account& account = uses_.accounts.of(of);
  const Account::Turn turn = account.take_turn();
  Heads heads = uses_.heads.of(account.id());
  if (!heads.count(id)) return false;
  const Replacing replacing(uses_.replication, account);
  Kept kept = read(account, id, heads.at(id));
  Head& latest = heads.rbegin()->second;
  const bool is_latest = heads.rbegin()->first == id;
  const Sequence sequence = heads.at(id).sequence;

  BeforeImages::Erasure erasure;
  const auto stage = [&](const Catalog::Tables& old_tables, const std::vector<Stream>& old_streams,
                         Batch& batch) {
    const Storage& storage = uses_.storage;
    SnapshotIds ids = last_ids(storage);
    ++ids.restore;
    Changes changes = changes_since(heads, id, kept);
    for (const auto& [key, value] : changes.to) value ? batch.put(key, *value) : batch.erase(key);
    for (const Stream& stream : old_streams) {
      const bool stays = std::any_of(kept.streams.begin(), kept.streams.end(),
                                     [&](const Stream& other) { return other.id == stream.id; });
      if (!stays) storage.erase_prefix(batch, table_prefix('S', stream.id));
    }
    for (const auto& live : old_tables)
      if (!SnapshotHeads::has(heads, live->id())) uses_.catalog.erase_data(batch, live->id());
    for (const Point& point : uses_.points.of(account.id())) {
      if (!SnapshotHeads::has(heads, point.table.id)) uses_.catalog.erase_data(batch, point.table.id);
      batch.erase(point_key(point.id));
    }
    for (const Point& point : kept.points) batch.put(point_key(point.id), point_bytes(point));

    if (is_latest) {
      // The state now equals the latest snapshot, so the log of that snapshot is empty. A log with a new
      // number, whose keys have never been erased, is as fast to walk after a thousand restores as after the
      // first.
      erasure.logs.push_back(latest.log);
      latest.log = ++ids.log;
      batch.put(head_key(id), head_value(account, latest.sequence, latest.log, kept.clock));
    } else {
      uses_.before_images.stage(batch, {latest.log, latest.sequence});
      // Erase the image of each key that again has its value from the latest snapshot, whether the image
      // existed before or has just been added.
      for (const auto& [key, value] : changes.to) {
        auto image = uses_.before_images.find(latest.log, key);
        if (!image) {
          std::string now;
          image.emplace(storage.get(key, now) ? std::optional(std::move(now)) : std::nullopt);
        }
        if (*image == value) erasure.images.emplace_back(latest.log, key);
      }
    }
    uses_.before_images.stage(batch, erasure);
    batch.put(last_snapshot_ids_key, bytes_of(ids));

    for (const Table& table : kept.tables) storage.erase_prefix(batch, table_prefix('N', table.id));
    for (const Point& point : kept.points) storage.erase_prefix(batch, table_prefix('N', point.table.id));
    for (const auto& [key, value] : kept.counters) batch.put(key, value);
    storage.erase_prefix(batch, Documents::state_prefix(account.id()));
    for (const auto& [key, value] : kept.documents) batch.put(key, value);
    uses_.tokens.stage_forgetting(batch, account.id());
    uses_.accounts.stage_rewinding(batch, account, kept.clock);

    for (Stream& stream : kept.streams) {
      const auto live = std::find_if(old_streams.begin(), old_streams.end(),
                                     [&](const Stream& other) { return other.id == stream.id; });
      const auto first = changes.first_undone.find(stream.id);
      std::optional<Undoing> now;
      if (first != changes.first_undone.end())
        now = {ids.restore, first->second, uses_.watermark.published()};
      stream.undone = undone_after(stream, live == old_streams.end() ? nullptr : &*live, sequence, now);
      for (Table& table : kept.tables)
        if (table.stream && table.stream->id == stream.id) table.stream = stream;
    }
    return Catalog::Replacement{std::move(kept.tables), std::move(kept.streams)};
  };
  const std::vector<std::shared_ptr<LiveTable>> before = uses_.catalog.tables(account.id());
  uses_.catalog.replace(account, stage, [&] {
    uses_.before_images.written(erasure);
    account.rewind(kept.clock);
    account.keep_images({latest.log, latest.sequence});
    uses_.points.replace(account.id(), std::move(kept.points));
    uses_.recent_writes.forget(account.id());
    uses_.history_trimmer.replacing();
  });
  for (const auto& table : before) uses_.failpoints.forget(*table);
  set_heads(account, std::move(heads));
  adopt(turn);
  uses_.stream_trimmer.replaced(account);
  uses_.history_trimmer.replaced(account);
  uses_.replication.replaced(account);
  uses_.documents.replaced(account.id());
  return true;
}

void Snapshots::adopt(const Account::Turn& turn) {
  Account& account = turn.account();
  for (const auto& table : uses_.catalog.tables(account.id())) {
    const std::shared_ptr<const Table> description = table->description();
    if (description->ttl) account.timers().look_now(table->id());
    if (BackfillWalk::needed(*description)) uses_.backfill.start(table, *description, 0);
  }
}

// --- forgetting

void Snapshots::stage_forgetting(Batch& batch, SnapshotId id) const {
  const Storage& storage = uses_.storage;
  if (storage.durable())
    for (const char kind : member_kinds) storage.erase_prefix(batch, table_prefix(kind, id));
  batch.erase(head_key(id));
}

bool Snapshots::drop(std::string_view of, SnapshotId id) {
  Account& account = uses_.accounts.of(of);
  const Account::Turn turn = account.take_turn();
  Heads heads = uses_.heads.of(account.id());
  const auto dropped = heads.find(id);
  if (dropped == heads.end()) return false;
  uses_.catalog.hold_still(account.id(), [&](const Catalog::Tables& tables) {
    Batch batch;
    const Head head = dropped->second;
    if (dropped != heads.begin()) {
      // A key that did not change between the previous snapshot and this one had the same value in both, so
      // its image moves to the previous snapshot's log.
      const Head& before = std::prev(dropped)->second;
      const Heads earlier(heads.begin(), dropped);
      uses_.before_images.each(head.log, [&](std::string_view key, const auto& value) {
        const bool is_theirs = sequence_in(key).value_or(0) <= before.sequence &&
                               (key.front() == 'S' || SnapshotHeads::has(earlier, id_in(key)));
        if (is_theirs && !uses_.before_images.find(before.log, key))
          uses_.before_images.put(batch, before.log, key, value);
      });
    }
    stage_forgetting(batch, id);
    const BeforeImages::Erasure erasure{{head.log}, {}};
    uses_.before_images.stage(batch, erasure);
    heads.erase(dropped);
    std::set<TableId> live;
    for (const auto& table : tables) live.insert(table->id());
    for (const TableId table : *head.tables)
      if (live.count(table) == 0 && !SnapshotHeads::has(heads, table))
        uses_.catalog.erase_unneeded(batch, table);
    uses_.storage.write(batch);
    uses_.before_images.written(erasure);
    set_heads(account, heads);
  });
  return true;
}

void Snapshots::reset(std::string_view of) {
  Account& account = uses_.accounts.of(of);
  const Account::Turn turn = account.take_turn();
  const Heads heads = uses_.heads.of(account.id());
  const Replacing replacing(uses_.replication, account);
  BeforeImages::Erasure erasure;
  for (const auto& [id, head] : heads) erasure.logs.push_back(head.log);
  const auto stage = [&](const Catalog::Tables& old_tables, const std::vector<Stream>& old_streams,
                         Batch& batch) {
    std::set<TableId> tables;
    for (const auto& live : old_tables) tables.insert(live->id());
    for (const Point& point : uses_.points.of(account.id())) {
      tables.insert(point.table.id);
      batch.erase(point_key(point.id));
    }
    for (const auto& [id, head] : heads) {
      tables.insert(head.tables->begin(), head.tables->end());
      stage_forgetting(batch, id);
    }
    uses_.before_images.stage(batch, erasure);
    for (const TableId table : tables) uses_.catalog.erase_data(batch, table);
    for (const Stream& stream : old_streams) uses_.storage.erase_prefix(batch, table_prefix('S', stream.id));
    uses_.storage.erase_prefix(batch, Documents::state_prefix(account.id()));
    uses_.tokens.stage_forgetting(batch, account.id());
    uses_.accounts.stage_forgetting(batch, account);
    return Catalog::Replacement{};
  };
  const std::vector<std::shared_ptr<LiveTable>> before = uses_.catalog.tables(account.id());
  uses_.catalog.replace(account, stage, [&] {
    uses_.before_images.written(erasure);
    uses_.accounts.begin_anew(account);
    set_heads(account, {});
    uses_.points.replace(account.id(), {});
    uses_.recent_writes.forget(account.id());
  });
  for (const auto& table : before) uses_.failpoints.forget(*table);
  uses_.stream_trimmer.replaced(account);
  uses_.replication.replaced(account);
  uses_.documents.replaced(account.id());
}

}  // namespace mayfly::engine
