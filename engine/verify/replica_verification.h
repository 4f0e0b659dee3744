// Verifies the replication data of a table (replica_log.h) against its items:
// - Each version belongs to an item, or to a deletion that left a tombstone.
// - Each tombstone matches a version.
// - Each write in flight goes to a replica.
// - A table without replicas has no replication data.
#pragma once

#include <string>

#include "engine/base/watermark.h"
#include "engine/schema/table.h"
#include "engine/verify/findings.h"
#include "engine/verify/key_view.h"

namespace mayfly::engine {

class ReplicaVerification {
 public:
  // `name`: the table's name for messages. If a snapshot is verified, tombstones and writes in flight that
  // are later than `upto` are not checked, because the snapshot does not include them.
  // Requires: the referenced objects outlive this object.
  ReplicaVerification(const KeyView& keys, const Table& table, std::string name, Sequence upto,
                      Findings& findings);
  void run();

 private:
  void check_version(std::string_view stored_key, std::string_view value);
  void check_tombstone(std::string_view stored_key);
  void check_departure(std::string_view stored_key, std::string_view value);
  void found(std::string_view kind, const std::string& what, Batch mend);
  [[nodiscard]] Batch erasing(std::string_view key) const;

  const KeyView& keys_;
  const Table& table_;
  const std::string name_;
  const Sequence upto_;
  Findings& findings_;
};

}  // namespace mayfly::engine
