// Verifies the descriptions of streams, and their records:
// - Shards form a forest. A child begins after its parent's last record, and its hash range is within its
//   parent's range. The open shards of an enabled stream together cover every hash exactly once.
// - Each record can be decoded and is in an existing shard. The record's number and the hash of its item are
//   within the ranges of that shard, and no restore has undone the record.
// - No two records of any streams have the same number. Numbers are checked one span after another, so the
//   check takes little memory.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/schema/table.h"
#include "engine/tables/change_log.h"
#include "engine/verify/findings.h"
#include "engine/verify/key_view.h"

namespace mayfly::engine {

// Returns a sentence for each flaw of a description's shards. `last` is the last number that
// was ever assigned.
std::vector<std::string> shard_flaws(const Stream& stream, Sequence last);

class StreamVerification {
 public:
  // All streams, with their names for messages.
  // Requires: the constructor's arguments outlive this object.
  using Streams = std::map<StreamId, std::pair<Stream, std::string>>;
  StreamVerification(const KeyView& keys, const Streams& streams, Findings& findings)
      : keys_(keys), streams_(streams), findings_(findings) {}

  // Records of streams in `undecoded` are not checked.
  void run(const std::vector<StreamId>& undecoded);

 private:
  void check_record(std::string_view key, std::string_view bytes);
  void check_numbers();
  [[nodiscard]] std::string place(const Stream& stream, const std::string& name, std::string_view key) const;
  void left_over(const std::string& what, std::string_view key);

  const KeyView& keys_;
  const Streams& streams_;
  Findings& findings_;
};

}  // namespace mayfly::engine
