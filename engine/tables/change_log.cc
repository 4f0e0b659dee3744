// Stored bytes, under 'S' stream:u32be shard:u32be sequence:u64be:
//
//   record := created:i64le kind:u8 cause:u8 image* keys       the old image precedes the new image
//   image  := length:u32le item                                length 0: there is no image
//   keys   := item
//   item   := the bytes of item_codec.h
#include "engine/tables/change_log.h"

#include <cstring>

#include "engine/base/check.h"
#include "engine/schema/index_entries.h"
#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"
#include "engine/tables/catalog.h"
#include "engine/time/account.h"
#include "engine/values/checked_item.h"
#include "engine/values/item_codec.h"
#include "engine/values/key_codec.h"

namespace mayfly::engine {
namespace {

constexpr std::size_t record_head_bytes = 8 + 1 + 1;

void append_image(std::string& out, std::string_view image) {
  append_little_endian(out, static_cast<std::uint32_t>(image.size()));
  out.append(image);
}

std::optional<Item> take_image(std::string_view& rest, std::uint64_t& size_bytes) {
  const auto length = read_little_endian<std::uint32_t>(rest);
  const std::string_view image = rest.substr(4, length);
  rest.remove_prefix(4 + length);
  if (image.empty()) return std::nullopt;
  size_bytes += stored_item_size(image);
  return decode_item(image);
}

bool keeps_old_images(StreamView view) {
  return view == StreamView::old_image || view == StreamView::new_and_old_images;
}
bool keeps_new_images(StreamView view) {
  return view == StreamView::new_image || view == StreamView::new_and_old_images;
}

}  // namespace

std::string encode_record(Cause cause, StreamView view, const Item& keys, std::string_view old_image,
                          std::string_view new_image) {
  MAYFLY_CHECK(!old_image.empty() || !new_image.empty());
  const ChangeRecord::Kind kind = old_image.empty()   ? ChangeRecord::Kind::insert
                                  : new_image.empty() ? ChangeRecord::Kind::remove
                                                      : ChangeRecord::Kind::modify;
  std::string bytes;
  bytes.reserve(record_head_bytes + old_image.size() + new_image.size() + 64);
  append_little_endian(bytes, Instant{0});
  bytes.push_back(static_cast<char>(kind));
  bytes.push_back(static_cast<char>(cause));
  append_image(bytes, keeps_old_images(view) ? old_image : std::string_view{});
  append_image(bytes, keeps_new_images(view) ? new_image : std::string_view{});
  encode_item(keys, bytes);
  return bytes;
}

void set_record_created(std::string& bytes, Instant created) {
  std::memcpy(bytes.data(), &created, sizeof created);
}

Instant record_created(std::string_view bytes) { return read_little_endian<Instant>(bytes); }

ChangeRecord decode_record(Sequence sequence, std::string_view bytes) {
  ChangeRecord record;
  record.sequence = sequence;
  record.created = record_created(bytes);
  record.kind = static_cast<ChangeRecord::Kind>(bytes[8]);
  record.cause = static_cast<Cause>(bytes[9]);
  std::string_view rest = bytes.substr(record_head_bytes);
  record.old_image = take_image(rest, record.size_bytes);
  record.new_image = take_image(rest, record.size_bytes);
  record.size_bytes += stored_item_size(rest);
  record.keys = decode_item(rest);
  return record;
}

Expected<ChangeRecord, std::string> checked_record(const Stream& stream, Sequence sequence,
                                                   std::string_view bytes) {
  const auto flaw = [](std::string_view what) { return Unexpected{std::string(what)}; };
  if (bytes.size() < record_head_bytes) return flaw("it ends too early");
  if (static_cast<std::uint8_t>(bytes[8]) > static_cast<int>(ChangeRecord::Kind::remove) ||
      static_cast<std::uint8_t>(bytes[9]) > static_cast<int>(Cause::time_to_live))
    return flaw("its kind or cause is unknown");
  std::string_view rest = bytes.substr(record_head_bytes);
  for (int image = 0; image < 2; ++image) {
    if (rest.size() < 4) return flaw("it ends too early");
    const auto length = read_little_endian<std::uint32_t>(rest);
    if (length > rest.size() - 4) return flaw("an image is cut off");
    if (length > 0) {
      TRY(const Item item, checked_item(rest.substr(4, length)));
      if (table_key(stream.keys, item).empty()) return flaw("an image lacks a key attribute");
    }
    rest.remove_prefix(4 + length);
  }
  TRY(const Item keys, checked_item(rest));
  if (keys.size() != stream.keys.all().size() || table_key(stream.keys, keys).empty())
    return flaw("its key does not match the stream's key schema");
  ChangeRecord record = decode_record(sequence, bytes);
  const bool has_old = keeps_old_images(stream.view) && record.kind != ChangeRecord::Kind::insert;
  const bool has_new = keeps_new_images(stream.view) && record.kind != ChangeRecord::Kind::remove;
  if (record.old_image.has_value() != has_old || record.new_image.has_value() != has_new)
    return flaw("its images do not match the stream's view type");
  return record;
}

Sequence ChangeLog::last_sequence(const Storage& storage, const std::vector<Stream>& streams) {
  Sequence last = 0;
  for (const Stream& stream : streams) {
    for (const Shard& shard : stream.shards) {
      last = std::max(
          {last, shard.first_sequence - 1, shard.oldest_sequence - 1, shard.last_sequence.value_or(0)});
      const std::string lower = shard_prefix(stream.id, shard.number);
      Storage::Iterator iterator(storage, lower, prefix_end(lower));
      iterator.seek_to_last();
      while (iterator.valid() && iterator.key().size() != record_key_bytes) iterator.prev();
      if (iterator.valid()) last = std::max(last, record_sequence(iterator.key()));
    }
  }
  // Include the numbers that forgotten streams used, because no number may be assigned twice.
  if (std::string value; storage.get(last_sequence_key, value) && value.size() == sizeof(Sequence))
    last = std::max(last, read_little_endian<Sequence>(value));
  if (std::string value; storage.get(last_version_key, value) && value.size() == sizeof(Sequence))
    last = std::max(last, read_little_endian<Sequence>(value));
  return last;
}

StreamPage ChangeLog::read(StreamId stream, ShardNumber number, Sequence from, std::size_t limit,
                           std::size_t bytes_max) const {
  const std::optional<Shard> shard = catalog_.find_shard(stream, number);
  if (!shard) return {{}, from, /*at_end=*/true, /*ended=*/true};
  // Read the number before the iterator is created, so that the iterator sees every record up to this number.
  const Sequence last = shard->last_sequence.value_or(watermark_.published());
  StreamPage page{{}, from, false};
  std::size_t bytes = 0;
  Storage::Iterator iterator(storage_, record_key(stream, number, from),
                             record_key(stream, number, last + 1));
  for (iterator.seek_to_first(); iterator.valid(); iterator.next()) {
    const std::string_view value = iterator.value();
    if (page.records.size() == limit || (bytes > 0 && bytes + value.size() > bytes_max)) return page;
    bytes += value.size();
    page.records.push_back(decode_record(record_sequence(iterator.key()), value));
    page.next = page.records.back().sequence + 1;
  }
  page.next = std::max(from, last + 1);  // `from` may lie beyond the shard's last record
  page.at_end = true;
  page.ended = shard->closed.has_value();
  return page;
}

std::vector<ShardNumber> ChangeLog::shards_with_records(StreamId stream, Sequence from) const {
  std::vector<ShardNumber> shards;
  const std::string lower = table_prefix('S', stream);
  Storage::Iterator iterator(storage_, lower, prefix_end(lower));
  iterator.seek_to_first();
  while (iterator.valid()) {
    if (iterator.key().size() != record_key_bytes) {
      iterator.next();
      continue;
    }
    const auto shard = read_big_endian<ShardNumber>(iterator.key().substr(table_prefix_bytes));
    if (record_sequence(iterator.key()) < from) {
      iterator.seek(record_key(stream, shard, from));
      continue;
    }
    shards.push_back(shard);
    iterator.seek(prefix_end(shard_prefix(stream, shard)));
  }
  return shards;
}

Sequence ChangeLog::oldest_sequence(StreamId stream, ShardNumber number) const {
  const std::optional<Shard> shard = catalog_.find_shard(stream, number);
  return shard ? shard->oldest_sequence : watermark_.published() + 1;
}

std::optional<Instant> ChangeLog::trim(const Account& account, Instant instant, Account::Timeline timeline) {
  std::optional<Instant> oldest_left;
  for (const Stream& stream : catalog_.streams(account.id())) {
    if (stream.disabled && *stream.disabled < instant) {
      forget(stream, timeline);
    } else {
      trim(stream, instant, timeline, oldest_left);
    }
  }
  return oldest_left;
}

void ChangeLog::forget(const Stream& stream, Account::Timeline timeline) {
  Batch batch;
  storage_.erase_prefix(batch, table_prefix('S', stream.id));
  catalog_.forget_stream(stream.id, batch, timeline);
}

void ChangeLog::trim(const Stream& stream, Instant instant, Account::Timeline timeline,
                     std::optional<Instant>& oldest_left) {
  const auto leave = [&](Instant created) { oldest_left = std::min(oldest_left.value_or(created), created); };
  if (stream.disabled) leave(*stream.disabled);
  std::vector<Catalog::TrimmedShard> trimmed;
  Batch batch;
  for (const Shard& shard : stream.shards) {
    const std::string lower = shard_prefix(stream.id, shard.number);
    if (shard.closed && *shard.closed < instant) {
      storage_.erase_prefix(batch, lower);
      trimmed.push_back({shard.number, *shard.last_sequence + 1, /*forgotten=*/true});
      continue;
    }
    if (shard.closed) leave(*shard.closed);
    Storage::Iterator iterator(storage_, lower,
                               record_key(stream.id, shard.number, watermark_.published() + 1));
    iterator.seek(record_key(stream.id, shard.number, shard.oldest_sequence));
    Sequence oldest = shard.oldest_sequence;
    for (; iterator.valid() && record_created(iterator.value()) < instant; iterator.next())
      oldest = record_sequence(iterator.key()) + 1;
    if (iterator.valid()) leave(record_created(iterator.value()));
    if (oldest == shard.oldest_sequence) continue;
    storage_.erase_range(batch, record_key(stream.id, shard.number, shard.oldest_sequence),
                         record_key(stream.id, shard.number, oldest));
    trimmed.push_back({shard.number, oldest, /*forgotten=*/false});
  }
  if (!trimmed.empty()) catalog_.trim_stream(stream.id, trimmed, batch, timeline);
}

}  // namespace mayfly::engine
