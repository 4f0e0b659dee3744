#include "engine/verify/stream_verification.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "engine/schema/index_entries.h"
#include "engine/schema/readable_key.h"
#include "engine/storage/key_space.h"
#include "engine/values/key_codec.h"

namespace mayfly::engine {
namespace {

constexpr Sequence numbers_at_once = Sequence{1} << 23;  // one megabyte of bits

std::string shard_named(const Shard& shard) { return "shard " + std::to_string(shard.number); }

std::optional<std::string> flaw_of(const Stream& stream, const Shard& shard, Sequence last) {
  if (shard.first_hash > shard.last_hash) return "has an empty hash range";
  if (shard.closed.has_value() != shard.last_sequence.has_value()) return "is neither open nor closed";
  if (stream.disabled && !shard.closed) return "is open, but its stream is disabled";
  if (shard.first_sequence == 0 || shard.oldest_sequence < shard.first_sequence)
    return "has an oldest record that is older than its first record";
  if (shard.last_sequence && *shard.last_sequence + 1 < shard.first_sequence) return "ends before it begins";
  if (std::max(shard.first_sequence - 1, shard.last_sequence.value_or(0)) > last)
    return "has numbers that were never assigned";
  if (!shard.parent) return std::nullopt;
  if (shard.parent->number >= shard.number) return "is older than its parent";
  if (shard.created <= shard.parent->created) return "was created before its parent";
  const Shard* parent = stream.find_shard(shard.parent->number);
  if (!parent) return std::nullopt;  // the parent has been forgotten
  if (!parent->closed || parent->created != shard.parent->created) return "has the wrong parent";
  if (parent->last_sequence && *parent->last_sequence >= shard.first_sequence)
    return "begins before its parent ends";
  if (shard.first_hash < parent->first_hash || shard.last_hash > parent->last_hash)
    return "has hashes that its parent lacks";
  return std::nullopt;
}

bool divide_all_hashes(const Stream& stream) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const Shard& shard : stream.shards)
    if (!shard.closed) ranges.emplace_back(shard.first_hash, shard.last_hash);
  std::sort(ranges.begin(), ranges.end());
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].first != next || ranges[i].second < ranges[i].first) return false;
    if (ranges[i].second == std::numeric_limits<std::uint64_t>::max()) return i + 1 == ranges.size();
    next = ranges[i].second + 1;
  }
  return false;
}

}  // namespace

std::vector<std::string> shard_flaws(const Stream& stream, Sequence last) {
  std::vector<std::string> flaws;
  for (std::size_t i = 0; i < stream.shards.size(); ++i) {
    const Shard& shard = stream.shards[i];
    if (i > 0 && shard.number <= stream.shards[i - 1].number)
      flaws.push_back("its " + shard_named(shard) + " is out of order");
    if (const auto flaw = flaw_of(stream, shard, last))
      flaws.push_back("its " + shard_named(shard) + " " + *flaw);
  }
  if (!stream.disabled && !divide_all_hashes(stream))
    flaws.emplace_back("its open shards do not cover each hash exactly once");
  for (const Undoing& undoing : stream.undone)
    if (undoing.first > undoing.last || undoing.last > last)
      flaws.emplace_back("its records that a restore undid have invalid numbers");
  return flaws;
}

void StreamVerification::run(const std::vector<StreamId>& undecoded) {
  for (KeyView::Walk walk(keys_, "S", "T"); walk.valid(); walk.next()) {
    findings_.pass(findings_.checked.records);
    if (walk.key().size() != record_key_bytes) {
      left_over("a stream record has a malformed key: " + hexadecimal(walk.key()), walk.key());
      continue;
    }
    const auto stream = read_big_endian<StreamId>(walk.key().substr(1));
    if (std::find(undecoded.begin(), undecoded.end(), stream) == undecoded.end())
      check_record(walk.key(), walk.value());
  }
  check_numbers();
}

std::string StreamVerification::place(const Stream& stream, const std::string& name,
                                      std::string_view key) const {
  return name + ": record " + std::to_string(record_sequence(key)) + " in shard " +
         std::to_string(read_big_endian<ShardNumber>(key.substr(1 + sizeof(StreamId)))) +
         (stream.disabled ? " of its former stream" : "");
}

void StreamVerification::left_over(const std::string& what, std::string_view key) {
  Batch mend;
  keys_.erase(mend, key);
  findings_.add({"a leftover stream record", what, std::move(mend), {}});
}

void StreamVerification::check_record(std::string_view key, std::string_view bytes) {
  const auto id = read_big_endian<StreamId>(key.substr(1));
  const Sequence sequence = record_sequence(key);
  const auto found = streams_.find(id);
  if (found == streams_.end())
    return left_over("record " + std::to_string(sequence) + " belongs to stream " + std::to_string(id) +
                         ", which does not exist",
                     key);
  const auto& [stream, name] = found->second;
  const auto stands = [&, &stream = stream, &name = name](const std::string& what) {
    left_over(place(stream, name, key) + " " + what, key);
  };
  const Shard* shard = stream.find_shard(read_big_endian<ShardNumber>(key.substr(1 + sizeof(StreamId))));
  if (!shard) return stands("is in a shard that does not exist");
  if (sequence < shard->oldest_sequence) return stands("is older than the shard's oldest record");
  if (shard->last_sequence && sequence > *shard->last_sequence)
    return stands("is newer than the shard's end");
  if (stream.is_undone(sequence)) return stands("was undone by a restore");
  const auto record = checked_record(stream, sequence, bytes);
  if (!record) {
    findings_.add({"a stream record that cannot be decoded",
                   place(stream, name, key) + " cannot be decoded: " + record.error(),
                   {},
                   {std::string(key)}});
    return;
  }
  const std::uint64_t hash = partition_hash(table_key(stream.keys, record->keys));
  if (hash < shard->first_hash || hash > shard->last_hash)
    findings_.add({"a stream record in the wrong shard",
                   place(stream, name, key) + " is in the wrong shard for its item",
                   {},
                   {std::string(key)}});
}

// Checks the spans of numbers one after another, and skips spans without records. Within a span, checks the
// shards one after another.
void StreamVerification::check_numbers() {
  std::vector<bool> given(numbers_at_once);
  for (Sequence begin = 0;;) {
    std::optional<Sequence> next;
    bool any = false;
    for (const auto& [id, each] : streams_) {
      for (const Shard& shard : each.first.shards) {
        const std::string end = prefix_end(shard_prefix(id, shard.number));
        KeyView::Walk walk(keys_, record_key(id, shard.number, begin), end);
        for (; walk.valid() && walk.key().size() == record_key_bytes; walk.next()) {
          const Sequence sequence = record_sequence(walk.key());
          if (sequence - begin >= numbers_at_once) {
            next = std::min(next.value_or(sequence), sequence);
            break;
          }
          any = true;
          if (given[sequence - begin])
            findings_.add({"a number that two stream records share",
                           place(each.first, each.second, walk.key()) + " repeats another record's number",
                           {},
                           {std::string(walk.key())}});
          given[sequence - begin] = true;
        }
      }
    }
    if (!next) return;
    begin = *next;
    if (any) given.assign(numbers_at_once, false);
  }
}

}  // namespace mayfly::engine
