// An account's state, kept and brought back: tables, indexes, pending expiries, streams, clock, and what
// other floors keep with it (documents.h).
//
// Taking a snapshot copies descriptions and counters only. From then on each key is written down before it
// changes for the first time (before_images.h), so bringing the snapshot back costs what was changed since,
// not what there is: the images of its own log and of those of all later snapshots are put back, of each key
// the earliest. Tables and streams keep their ids. All of it is one batch, so a crash leaves the old state or
// the new.
//
// A restore is an ordinary change for the later snapshots, which stay: what it changes is written down for
// them, and what it changes back to what the latest had is struck out of its log again. So memory does not
// grow with the number of restores. A table that only snapshots have lies where it was, named by no catalog.
//
// Rejected: copies under ids of their own, which cost the whole account at each restore and leave whoever
// holds an old id with nothing; RocksDB's snapshots, which do not survive a restart; its checkpoints, which
// hold every account; and its user-defined timestamps, which every key would have to carry.
//
// Streams keep their ARNs and shards. Their sequence numbers go on from the last that was ever given: what
// was recorded after the snapshot is undone (Stream::undone), and who had read on into it has lost its place.
//
//   'G' snapshot:u32             account:12 sequence:u64le log:u32le clock     clock: Account::bytes
//   'H' snapshot:u32 table:u32   table's description
//   'J' snapshot:u32 stream:u32  stream's description
//   'K' snapshot:u32 table:u32 index:u16   a counter, as under 'N'
//   'E' snapshot:u32 name        a document of the account's state: its key less Documents::state_prefix
//   'L' snapshot:u32 point:u32   a point of one of the account's tables, as under 'P' (points.h)
//
// In memory, everything but 'G' is kept outside storage, and snapshots share what is the same in both
// (snapshot_members.h).
//
// A table that was dropped and that points still have is the snapshot's as far as the points need it.
//
// Whoever changes an account's snapshots has the account's turn; two accounts' snapshots never meet.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/before_images.h"
#include "engine/database.h"
#include "engine/mutex.h"
#include "engine/snapshot_members.h"
#include "engine/storage.h"

namespace mayfly::engine {

// In storage: snapshot:u32le log:u32le restore:u32le, the last that were given.
inline constexpr std::string_view last_snapshot_ids_key = "Msnapshots";
struct SnapshotIds {
  SnapshotId snapshot = 0;
  ImageLog log = 0;
  std::uint32_t restore = 0;
};
std::string bytes_of(const SnapshotIds& ids);
std::optional<SnapshotIds> snapshot_ids(std::string_view bytes);  // nothing: they are not bytes_of's

// What a key of kind 'G' and its value say.
struct SnapshotHead {
  std::string account;
  Sequence sequence = 0;
  ImageLog log = 0;
  Instant now = 0;  // what the account's clock would say after a restore
};
// Nothing: they are no snapshot's.
std::optional<SnapshotHead> snapshot_head(std::string_view key, std::string_view value, const Clock& host);

class Snapshots {
 public:
  // Finds the snapshots that storage has, and tells their accounts' writers of them.
  explicit Snapshots(Database& database);

  // Nothing: the account has as many as it may.
  std::optional<SnapshotId> take(Account& account, std::size_t snapshots_max);
  // False: the account has no such snapshot.
  [[nodiscard]] bool restore(Account& account, SnapshotId id);
  [[nodiscard]] bool drop(Account& account, SnapshotId id);
  [[nodiscard]] std::vector<SnapshotId> list(const Account& account) const;
  // Afterwards the account has no tables, points, streams, snapshots or tokens, and its clock begins anew.
  void reset(Account& account);
  // Whether a snapshot of the account has the table, or a point of it.
  [[nodiscard]] bool have(std::string_view account, TableId table) const;
  // For a verification: visit(name, value) for each member of the kind that the snapshot has. False: there is
  // no such snapshot.
  bool each_member(std::string_view account, SnapshotId id, char kind,
                   const SnapshotMembers::Visit& visit) const;

 private:
  struct Head {
    ImageLog log = 0;
    Sequence sequence = 0;
    // Sorted: of the account's tables, and of its points. Shared with the snapshot before if they are the
    // same.
    std::shared_ptr<const std::vector<TableId>> tables;
    std::shared_ptr<const SnapshotMembers> members;  // in memory; nullptr: storage has them
  };
  using Heads = std::map<SnapshotId, Head>;  // of one account, the oldest first
  struct Kept;                               // what H, J, K, E and L say
  struct Changes;                            // what a restore puts back

  [[nodiscard]] Heads heads_of(const Account& account) const;
  void set_heads(Account& account, Heads heads);
  static bool has(const Heads& heads, TableId table);
  // Adds the newest snapshot, which has these tables.
  static void add(Heads& heads, SnapshotId id, Head head, std::vector<TableId> tables);

  [[nodiscard]] Kept read(const Account& account, SnapshotId id, const Head& head) const;
  void each_member(char kind, SnapshotId id, const Head& head, const SnapshotMembers::Visit& visit) const;
  // put(kind, name, value) for each member of a snapshot that is taken now.
  using Put = std::function<void(char kind, std::string_view name, std::string_view value)>;
  void put_members(const std::vector<std::shared_ptr<LiveTable>>& tables, const Account& account,
                   const Put& put) const;
  void stage_forgetting(Batch& batch, SnapshotId id) const;  // all but its images
  [[nodiscard]] Changes changes_since(const Heads& heads, SnapshotId id, const Kept& kept) const;
  void adopt(const Account::Turn& turn);

  Database& database_;
  mutable Mutex mutex_;                                                 // for a few instructions
  std::map<std::string, Heads, std::less<>> heads_ GUARDED_BY(mutex_);  // by account
};

}  // namespace mayfly::engine
