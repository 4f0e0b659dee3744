// One record per item write that changed something, of a table whose stream is enabled.
//
// It lies in the shard that is open for its item's partition (shards.h). A record gets its sequence number at
// commit, from one committer; `published()` is the watermark below which every record can be read and nothing
// will appear any more. Readers stop there, so none is skipped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/attribute_value.h"
#include "engine/clock.h"
#include "engine/expected.h"
#include "engine/table.h"
#include "engine/watermark.h"

namespace mayfly::engine {

class Account;
class Catalog;
class Storage;

// In storage, u64le: the last number that streams have used which are forgotten by now.
inline constexpr std::string_view last_sequence_key = "Msequence";
// Likewise: the last number that old versions of items have (committer.h), of a directory, or tombstones
// without a record. The commit section alone writes it, so that it never goes back.
inline constexpr std::string_view last_version_key = "Mlast-version";

// Who wrote: a user's request, or the service deleting what expired.
enum class Cause : std::uint8_t { user, time_to_live };

struct ChangeRecord {
  enum class Kind : std::uint8_t { insert, modify, remove };
  Sequence sequence = 0;
  Instant created = 0;
  Kind kind = Kind::insert;
  Cause cause = Cause::user;
  Item keys;
  std::optional<Item> old_image;  // stored as the stream's view asks
  std::optional<Item> new_image;
  std::uint64_t size_bytes = 0;  // size(keys) + size(new image) + size(old image)
};

// A record's bytes but for its creation time. The images are item_codec's bytes, empty: there is none; the
// view decides which of them are kept.
std::string encode_record(Cause cause, StreamView view, const Item& keys, std::string_view old_image,
                          std::string_view new_image);
void set_record_created(std::string& bytes, Instant created);
Instant record_created(std::string_view bytes);
ChangeRecord decode_record(Sequence sequence, std::string_view bytes);
// Of bytes that may be damaged: the error says what is wrong with them, or that no stream with this view and
// these keys writes such a record.
Expected<ChangeRecord, std::string> checked_record(const Stream& stream, Sequence sequence,
                                                   std::string_view bytes);

// Records of a shard, in order.
struct StreamPage {
  std::vector<ChangeRecord> records;
  Sequence next;       // where to go on
  bool at_end;         // nothing more at the time of reading
  bool ended = false;  // nor ever: the shard is closed, and its children begin
};

class ChangeLog {
 public:
  ChangeLog(Storage& storage, Catalog& catalog, const Watermark& watermark)
      : storage_(storage), catalog_(catalog), watermark_(watermark) {}

  // The last sequence number that storage knows of.
  static Sequence last_sequence(const Storage& storage, const std::vector<Stream>& streams);

  // At least one record, if there is one. A shard that was forgotten has ended.
  [[nodiscard]] StreamPage read(StreamId stream, ShardNumber shard, Sequence from, std::size_t limit,
                                std::size_t bytes_max) const;

  // The shards that have a record numbered `from` or later, by number: one seek for each shard with records.
  [[nodiscard]] std::vector<ShardNumber> shards_with_records(StreamId stream, Sequence from) const;

  // Forgets an account's records created before `instant`, and shards and streams closed before it. Returns
  // when the oldest record that stays was created; nothing: none stays.
  // Nothing is forgotten any more once the account's timeline (account.h) is another.
  std::optional<Instant> trim(const Account& account, Instant instant, std::uint64_t timeline);

 private:
  void forget(const Stream& stream, std::uint64_t timeline);
  void trim(const Stream& stream, Instant instant, std::uint64_t timeline,
            std::optional<Instant>& oldest_left);

  Storage& storage_;
  Catalog& catalog_;
  const Watermark& watermark_;
};

}  // namespace mayfly::engine
