// Takes and restores snapshots of an account's state: tables, indexes, pending expirations, streams, the
// clock, and documents that layers above the engine store for the account (documents.h).
//
// Taking a snapshot copies only descriptions and counters. From then on, before a key changes for the first
// time, its old value is saved as an image in the snapshot's log (before_images.h). So the cost of a restore
// depends on the changes since the snapshot, not on the size of the account. A restore writes back the images
// in the snapshot's log and in the logs of all later snapshots; if several logs have an image of a key, the
// earliest one is used. Tables and streams keep their ids. The restore is a single batch, so a crash leaves
// either the old state or the new one.
//
// Snapshots that are later than the restored one remain. For them, a restore is an ordinary change, so images
// of the keys that it changes are saved. If the restore changes a key back to its value in the latest
// snapshot, the image of that key is removed from the log. So memory does not grow with the number of
// restores. A table that only snapshots contain is not in the catalog, but its data stays in place.
//
// Rejected: copies under new ids. At each restore, they would cost as much as the whole account, and an id
// that a caller still holds would become invalid.
// Rejected: RocksDB's snapshots, which do not survive a restart; its checkpoints, which contain all accounts;
// and its user-defined timestamps, which every key would have to carry.
//
// Streams keep their ARNs and shards. Their sequence numbers continue after the last one that was ever
// assigned. The records from after the snapshot are undone (Stream::undone), and a reader that has read any
// of them has lost its position.
//
//   'G' snapshot:u32             account:12 sequence:u64le log:u32le clock     clock: Account::bytes
//   'H' snapshot:u32 table:u32   the table's description
//   'J' snapshot:u32 stream:u32  the stream's description
//   'K' snapshot:u32 table:u32 index:u16   a counter, stored as under 'N'
//   'E' snapshot:u32 name        a document of the account's state: its key without Documents::state_prefix
//   'L' snapshot:u32 point:u32   a point of one of the account's tables, stored as under 'P' (points.h)
//
// If storage is in memory, everything but 'G' is kept outside storage, and snapshots share identical members
// (snapshot_members.h).
//
// A snapshot contains the part of a dropped table that its points still need.
//
// Thread-safe. Each call that changes an account's snapshots takes the account's turn. Snapshots of different
// accounts are independent.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/background/snapshot_heads.h"
#include "engine/storage/before_images.h"
#include "engine/storage/snapshot_members.h"
#include "engine/storage/storage.h"
#include "engine/tables/catalog.h"
#include "engine/time/account.h"

namespace mayfly::engine {

class Documents;
class Failpoints;
class HistoryTrimmer;
class IndexBackfill;
class RecentWrites;
class Replication;
class RequestTokens;
class StreamTrimmer;

// The storage key of the last ids that were assigned: snapshot:u32le log:u32le restore:u32le.
inline constexpr std::string_view last_snapshot_ids_key = "Msnapshots";
struct SnapshotIds {
  SnapshotId snapshot = 0;
  ImageLog log = 0;
  std::uint32_t restore = 0;
};
std::string bytes_of(const SnapshotIds& ids);
std::optional<SnapshotIds> snapshot_ids(std::string_view bytes);  // nullopt if `bytes` are malformed

// The decoded key and value of kind 'G'.
struct StoredHead {
  std::string account;
  Sequence sequence = 0;
  ImageLog log = 0;
  Instant now = 0;  // the time of the account's clock after a restore
};
// Returns nullopt if the key or the value is malformed.
std::optional<StoredHead> stored_head(std::string_view key, std::string_view value, const Clock& host);

class Snapshots {
 public:
  // The parts that this class uses. Requires: all of them outlive this object.
  struct Uses {
    Storage& storage;
    Accounts& accounts;
    Catalog& catalog;
    BeforeImages& before_images;
    Points& points;
    const Watermark& watermark;
    SnapshotHeads& heads;
    RequestTokens& tokens;
    // Parts that cache an account's state and must be told when a restore or a reset has replaced it.
    Documents& documents;
    RecentWrites& recent_writes;
    Failpoints& failpoints;
    IndexBackfill& backfill;
    StreamTrimmer& stream_trimmer;
    HistoryTrimmer& history_trimmer;
    Replication& replication;
  };

  // Loads the snapshots from storage. From then on, writes to the snapshots' accounts save images.
  explicit Snapshots(const Uses& uses);

  SnapshotId take(std::string_view account);
  // Returns nullopt if the account already has `snapshots_max` snapshots.
  std::optional<SnapshotId> take(std::string_view account, std::size_t snapshots_max);
  // Returns tables, streams and clock to their state in the snapshot. Returns false if the account has no
  // such snapshot.
  [[nodiscard]] bool restore(std::string_view account, SnapshotId id);
  [[nodiscard]] bool drop(std::string_view account, SnapshotId id);
  [[nodiscard]] std::vector<SnapshotId> list(std::string_view account) const;
  // Removes all tables, points, streams, snapshots, documents and tokens of the account, and restarts its
  // clock.
  void reset(std::string_view account);
  // For verification: calls visit(name, value) for each member of this kind in the snapshot. Returns false if
  // there is no such snapshot.
  bool each_member(std::string_view account, SnapshotId id, char kind,
                   const SnapshotMembers::Visit& visit) const;

 private:
  using Head = SnapshotHead;
  using Heads = SnapshotHeads::OfAccount;
  struct Kept;     // the decoded 'H', 'J', 'K', 'E' and 'L' members of a snapshot
  struct Changes;  // the changes that a restore makes

  void set_heads(Account& account, Heads heads);
  [[nodiscard]] Kept read(const Account& account, SnapshotId id, const Head& head) const;
  void each_member(char kind, SnapshotId id, const Head& head, const SnapshotMembers::Visit& visit) const;
  // put_members() calls put(kind, name, value) for each member of a snapshot that is taken now.
  using Put = std::function<void(char kind, std::string_view name, std::string_view value)>;
  void put_members(const std::vector<std::shared_ptr<LiveTable>>& tables, const Account& account,
                   const Put& put) const;
  void stage_forgetting(Batch& batch, SnapshotId id) const;  // erases everything but images
  [[nodiscard]] Changes changes_since(const Heads& heads, SnapshotId id, const Kept& kept) const;
  void adopt(const Account::Turn& turn);

  const Uses uses_;
};

}  // namespace mayfly::engine
