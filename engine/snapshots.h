// An account's state, kept and brought back: tables, indexes, pending expiries, streams and clock.
//
// A snapshot is a copy of the account's keys under table and stream ids of its own, that no catalog names; bringing
// it back copies them once more, under new ids, and then replaces the account's catalog in one batch. So a snapshot
// can be brought back any number of times, other accounts notice nothing, and a crash leaves the old state or the
// new: what a copy had written before it ended is erased at the next opening. (Rejected: RocksDB's own snapshots
// and checkpoints. The first do not survive a restart, the second hold every account.)
//
// Streams keep their ARNs and shards. Their sequence numbers go on from the last that was ever given: what was
// recorded after the snapshot is undone (Stream::undone_first), and who had read on into it has lost its place.
//
//   'Z' snapshot:u32             account:12 sequence:u64le clock     clock: Account::bytes
//   'Y' snapshot:u32 table:u32   table's description, with the ids of the copy
//   'V' snapshot:u32 stream:u32  stream's description, likewise
//   'W' table:u32                table_end:u32le stream:u32le stream_end:u32le    a copy under way: its ids
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/database.h"
#include "engine/storage.h"

namespace mayfly::engine {

class Snapshots {
 public:
  // Erases what copies left that a crash interrupted.
  explicit Snapshots(Database& database);

  SnapshotId take(Account& account);
  // False: the account has no such snapshot.
  [[nodiscard]] bool restore(Account& account, SnapshotId id);
  [[nodiscard]] bool drop(const Account& account, SnapshotId id);
  [[nodiscard]] std::vector<SnapshotId> list(const Account& account) const;
  // The account has no tables, streams, snapshots or tokens, and its clock begins anew.
  void reset(Account& account);

 private:
  struct Kept;   // what Z, Y and V say
  struct Moves;  // tables and streams, and the ids under which they are now

  [[nodiscard]] std::optional<Kept> find(const Account& account, SnapshotId id) const;
  Moves copy(std::vector<Table> tables, std::vector<Stream> streams, const Storage::Snapshot* at);
  void copy_keys(const std::string& from, const std::string& to, const Storage::Snapshot* at);
  void stage_dropping(Batch& batch, const Kept& kept, SnapshotId id) const;
  void adopt(Account& account);

  Database& database_;
};

}  // namespace mayfly::engine
