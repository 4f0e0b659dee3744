// Verifies that storage keeps the invariants of architecture.md, key by key. There is no other checker: data
// directories (directory_check.h) and databases in tests are checked by this code.
//
//   Findings findings([&](Finding finding) { std::puts(finding.text.c_str()); });
//   const Storage::Snapshot at(storage);
//   verify(storage, at, {}, findings);
//
// Derived data is checked against its source:
// - index entries, expiry entries and counters against items (table_verification.h);
// - records against the shards of their stream (stream_verification.h);
// - points against the versions that are kept for them (history_verification.h);
// - the next ids and numbers against those already in use.
//
// Each snapshot is checked as if it had been restored. The mend of a finding sets derived data to what it
// should be and deletes dangling entries. It never touches an item, a record or a description that is intact.
// Mends can be applied together or selectively: each mend leaves storage no worse than it was.
#pragma once

#include <functional>
#include <string_view>

#include "engine/background/snapshots.h"
#include "engine/base/clock.h"
#include "engine/storage/storage.h"
#include "engine/verify/findings.h"
#include "engine/verify/table_verification.h"

namespace mayfly::engine {

// Data that an open database does not keep in storage.
struct VerificationOf {
  const Clock* host = nullptr;  // nullptr: the system clock
  // Returns the current time by the account's clock. If empty, the time is derived from storage.
  std::function<Instant(std::string_view account)> now = nullptr;
  // The counters, if they are not stored.
  std::function<Counts(TableId, IndexId)> counts = nullptr;
  // The members of snapshots (snapshots.h), if they are not stored.
  std::function<void(std::string_view account, SnapshotId id, char kind, const SnapshotMembers::Visit& visit)>
      snapshot_members = nullptr;
};

// Reads only the state as of `at`. Throws StorageFault if a read fails.
void verify(const Storage& storage, const Storage::Snapshot& at, const VerificationOf& of,
            Findings& findings);

}  // namespace mayfly::engine
