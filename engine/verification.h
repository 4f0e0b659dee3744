// Whether all that is stored keeps what architecture.md says always holds, key by key: the one checker, for
// directories (directory_check.h), and for databases in tests.
//
//   Findings findings([&](Finding finding) { std::puts(finding.text.c_str()); });
//   const Storage::Snapshot at(storage);
//   verify(storage, at, {}, findings);
//
// What is derived is checked against what it is derived from: index entries, expiry entries and counters
// against items (table_verification.h), records against their stream's shards (stream_verification.h), points
// against what there is of them (history_verification.h), ids and numbers that are given next against those
// that were given. Each snapshot is checked as the account that it would be restored to. A finding's mend
// makes of the derived what it should be and drops what points to nothing; it never touches an item, a record
// or a description that is as it was written. Several mends can be written together, or only some of them:
// each leaves storage no worse than it was.
#pragma once

#include <functional>
#include <string_view>

#include "engine/clock.h"
#include "engine/findings.h"
#include "engine/snapshots.h"
#include "engine/storage.h"
#include "engine/table_verification.h"

namespace mayfly::engine {

// What is known of a database that is open, and not in storage.
struct VerificationOf {
  const Clock* host = nullptr;  // nullptr: the system's
  // By the account's clock; nothing: by what storage has of it.
  std::function<Instant(std::string_view account)> now = nullptr;
  // Counters, where they are not stored.
  std::function<Counts(TableId, IndexId)> counts = nullptr;
  // Members of snapshots (snapshots.h), where they are not stored.
  std::function<void(std::string_view account, SnapshotId id, char kind, const SnapshotMembers::Visit& visit)>
      snapshot_members = nullptr;
};

// Reads nothing but what there was at `at`. A StorageFault passes through.
void verify(const Storage& storage, const Storage::Snapshot& at, const VerificationOf& of,
            Findings& findings);

}  // namespace mayfly::engine
