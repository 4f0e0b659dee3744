// Whether what a table keeps for its replicas (replica_log.h) fits its items: each version is that of an item
// or of a deletion that left a tombstone, each tombstone has its version, and whatever is on its way goes to
// a replica. A table without replicas keeps nothing for them.
#pragma once

#include <string>

#include "engine/findings.h"
#include "engine/key_view.h"
#include "engine/table.h"
#include "engine/watermark.h"

namespace mayfly::engine {

class ReplicaVerification {
 public:
  // What is named outlives it. `name`: the table for people. `upto`: what has a later number is none of it,
  // as with snapshots.
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
