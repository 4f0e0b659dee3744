#include "engine/verify/replica_verification.h"

#include <algorithm>
#include <utility>

#include "engine/schema/index_entries.h"
#include "engine/schema/readable_key.h"
#include "engine/storage/key_space.h"
#include "engine/tables/replica_log.h"
#include "engine/values/checked_item.h"
#include "engine/values/key_codec.h"

namespace mayfly::engine {

ReplicaVerification::ReplicaVerification(const KeyView& keys, const Table& table, std::string name,
                                         Sequence upto, Findings& findings)
    : keys_(keys), table_(table), name_(std::move(name)), upto_(upto), findings_(findings) {}

void ReplicaVerification::run() {
  for (const char kind : {'W', 'Y', 'F'}) {
    const std::string prefix = table_prefix(kind, table_.id);
    for (KeyView::Walk walk(keys_, prefix, prefix_end(prefix)); walk.valid(); walk.next()) {
      const std::string_view key = walk.key();
      if (!is_replica_key(key)) {
        found("leftover replication data", "malformed replication key: " + hexadecimal(key), erasing(key));
        continue;
      }
      if (kind != 'W' && replica_sequence(key) > upto_) continue;
      if (!table_.replicates()) {
        found("leftover replication data", "it has no replicas, but replication data: " + hexadecimal(key),
              erasing(key));
        continue;
      }
      switch (kind) {
        case 'W': check_version(key, walk.value()); break;
        case 'Y': check_tombstone(key); break;
        default: check_departure(key, walk.value());
      }
    }
  }
}

void ReplicaVerification::check_version(std::string_view stored_key, std::string_view value) {
  const std::string_view key = stored_key.substr(1 + sizeof(TableId));
  const std::string whose = readable_key(table_.keys, key);
  const auto version = decode_version(value);
  if (!version)
    return found("a version that cannot be decoded",
                 "the version of the item " + whose + " cannot be decoded", erasing(stored_key));
  const bool there = keys_.has(item_key(table_.id, 0, key));
  if (version->gone() && !keys_.has(tombstone_key(table_.id, version->tombstone, key))) {
    Batch mend;
    keys_.put(mend, tombstone_key(table_.id, version->tombstone, key), {});
    return found("a missing tombstone",
                 "the deletion of the item " + whose + " has no tombstone and would never be forgotten",
                 std::move(mend));
  }
  if (version->gone() == there)
    found("a wrong version",
          "the item " + whose +
              (there ? " exists, but its version says that it was deleted"
                     : " is missing, but its version says that it exists"),
          erasing(stored_key));
}

void ReplicaVerification::check_tombstone(std::string_view stored_key) {
  const std::string_view key = tombstone_item_key(stored_key);
  std::string value;
  const bool there = keys_.get(write_version_key(table_.id, key), value);
  const auto version = there ? decode_version(value) : std::nullopt;
  if (version && version->tombstone == replica_sequence(stored_key)) return;
  if (there && !version) return;  // check_version() has reported it
  found("a leftover tombstone",
        "a tombstone of the item " + readable_key(table_.keys, key) + " does not match its version",
        erasing(stored_key));
}

void ReplicaVerification::check_departure(std::string_view stored_key, std::string_view value) {
  const auto to = read_big_endian<TableId>(stored_key.substr(1 + sizeof(TableId)));
  if (!has_replica(table_, to))
    return found("a write in flight to a table that is not a replica",
                 "a write is in flight to a table that is not a replica: " + hexadecimal(stored_key),
                 erasing(stored_key));
  const auto departure = decode_departure(value);
  const auto item = departure && !departure->item.empty() ? checked_item(departure->item)
                                                          : Expected<Item, std::string>(Item());
  const bool fits =
      departure && item && (departure->item.empty() || table_key(table_.keys, *item) == departure->key);
  if (!fits)
    found(
        "a write in flight that cannot be decoded",
        "a write in flight to a replica cannot be decoded and would never arrive: " + hexadecimal(stored_key),
        erasing(stored_key));
}

void ReplicaVerification::found(std::string_view kind, const std::string& what, Batch mend) {
  findings_.add({kind, name_ + ": " + what, std::move(mend), {}});
}

Batch ReplicaVerification::erasing(std::string_view key) const {
  Batch batch;
  keys_.erase(batch, key);
  return batch;
}

}  // namespace mayfly::engine
