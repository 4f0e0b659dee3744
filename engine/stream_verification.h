// Whether a stream's description is one, and its records lie where it says.
//
// Shards form a forest: a child begins after its parent's last record and has hashes of its parent's; the
// open ones of an enabled stream divide all hashes among them. A record decodes, lies in a shard that there
// is, by its item's hash and within the shard's numbers, none of which was taken back; and no two records of
// all streams have one number. That is looked for a span of numbers after the other, so it takes no memory to
// speak of.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/change_log.h"
#include "engine/findings.h"
#include "engine/key_view.h"
#include "engine/table.h"

namespace mayfly::engine {

// What is wrong with a description's shards, in sentences; `last`: the last number that was ever given.
std::vector<std::string> shard_flaws(const Stream& stream, Sequence last);

class StreamVerification {
 public:
  // All that there are, with their names for people. What is named outlives it.
  using Streams = std::map<StreamId, std::pair<Stream, std::string>>;
  StreamVerification(const KeyView& keys, const Streams& streams, Findings& findings)
      : keys_(keys), streams_(streams), findings_(findings) {}

  // Records of streams in `undecoded` are not judged.
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
