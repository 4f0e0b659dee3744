// The change log: one record for each item write that changed something in a table with an enabled stream.
//
// A record belongs to the open shard that contains its item's partition (shards.h). The committer assigns its
// sequence number at commit. `published()` is the watermark: every record up to it can be read, and no
// further record will appear at or below it. Readers stop there, so they do not skip any record.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/expected.h"
#include "engine/base/watermark.h"
#include "engine/schema/table.h"
#include "engine/values/attribute_value.h"

namespace mayfly::engine {

class Account;
class Catalog;
class Storage;

// What made the change: a user's request, or the service, which deletes expired items.
enum class Cause : std::uint8_t { user, time_to_live };

struct ChangeRecord {
  enum class Kind : std::uint8_t { insert, modify, remove };
  Sequence sequence = 0;
  Instant created = 0;
  Kind kind = Kind::insert;
  Cause cause = Cause::user;
  Item keys;
  std::optional<Item> old_image;  // stored if the stream's view includes it
  std::optional<Item> new_image;
  std::uint64_t size_bytes = 0;  // size(keys) + size(new image) + size(old image)
};

// Encodes a record, except for its creation time. Each image is encoded by item_codec; it is empty if there
// was no item. The view decides which images are kept.
std::string encode_record(Cause cause, StreamView view, const Item& keys, std::string_view old_image,
                          std::string_view new_image);
void set_record_created(std::string& bytes, Instant created);
Instant record_created(std::string_view bytes);
ChangeRecord decode_record(Sequence sequence, std::string_view bytes);
// Decodes bytes that may be damaged. The error says what is wrong with the bytes, or that a stream with the
// view and the keys of `stream` never writes such a record.
Expected<ChangeRecord, std::string> checked_record(const Stream& stream, Sequence sequence,
                                                   std::string_view bytes);

// A part of a shard's records, in order.
struct StreamPage {
  std::vector<ChangeRecord> records;
  Sequence next;       // where the next read starts
  bool at_end;         // there were no further records at the time of reading
  bool ended = false;  // the shard is closed, and its records continue in its children
};

class ChangeLog {
 public:
  ChangeLog(Storage& storage, Catalog& catalog, const Watermark& watermark)
      : storage_(storage), catalog_(catalog), watermark_(watermark) {}

  // Returns the last sequence number that storage contains.
  static Sequence last_sequence(const Storage& storage, const std::vector<Stream>& streams);

  // Returns the records of a shard starting at `from`, in order: at most `limit` records and `bytes_max`
  // bytes, but at least one record if there is any. A reader that reads each parent to its end before its
  // children sees each item's records in order, and each record once. For a forgotten shard, the page is
  // empty and `ended`.
  [[nodiscard]] StreamPage read(StreamId stream, ShardNumber shard, Sequence from, std::size_t limit,
                                std::size_t bytes_max) const;

  // Returns the shards that have a record numbered `from` or later, sorted by shard number. Costs at most two
  // seeks for each shard with records.
  [[nodiscard]] std::vector<ShardNumber> shards_with_records(StreamId stream, Sequence from) const;

  // Returns the shard's first sequence number that is not trimmed; for a forgotten shard, the next number
  // that will be assigned.
  [[nodiscard]] Sequence oldest_sequence(StreamId stream, ShardNumber shard) const;

  // Erases an account's records that were created before `instant`, and its shards and streams that were
  // closed before `instant`. Returns the earliest time at which a remaining record was created or a remaining
  // shard or stream was closed; nullopt if nothing remains. Stops when `timeline` is no longer the account's
  // timeline (account.h).
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
