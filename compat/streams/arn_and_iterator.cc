// Format of a printed iterator:
//
//   iterator := stream_arn "|1|" hex(payload)
//   payload  := shard:u32 next:u64 created:u64 last_restore:u32 check:u64      big-endian
//   check    := a hash of stream_arn and the payload before it
//
// The check is not secret. It distinguishes iterators that Mayfly returned from truncated, edited or invented
// iterators.
#include "compat/streams/arn_and_iterator.h"

#include <array>
#include <cstdio>
#include <limits>

#include "compat/tables/arn.h"
#include "compat/wire/hash.h"
#include "engine/base/byte_order.h"
#include "engine/base/hex.h"
#include "engine/values/account_id.h"

namespace mayfly::compat {
namespace {

using engine::append_big_endian;
using engine::read_big_endian;

// The distance between the numbers of consecutive records. The starting numbers of shards lie in between.
constexpr std::uint64_t sequence_step = 100;
constexpr std::size_t sequence_digits = 20;  // after the leading 1
constexpr std::size_t payload_bytes = 4 + 8 + 8 + 4 + 8;

using engine::hex_digits;

std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    auto high = hex_digits.find(text[i]), low = hex_digits.find(text[i + 1]);
    if (high == hex_digits.npos || low == hex_digits.npos) return std::nullopt;
    out += static_cast<char>(high << 4 | low);
  }
  return out;
}

std::string decimal(std::uint64_t value, std::size_t width) {
  std::string digits = std::to_string(value);
  return std::string(width > digits.size() ? width - digits.size() : 0, '0') + digits;
}

// Sequences begin at 0 or 1. Adding one leaves room for the starting number of a stream that begins at 0.
std::uint64_t place_of(engine::Sequence sequence) { return (sequence + 1) * sequence_step; }
std::uint64_t starting_place(const engine::Shard& shard) { return place_of(shard.first_sequence) - 1; }

std::string print_place(std::uint64_t place) { return "1" + decimal(place, sequence_digits); }

std::string print_shard_id(const engine::Stream& stream, engine::ShardNumber shard, engine::Instant created) {
  // The odd factor scatters the digits, and different shard numbers still get different digits.
  const std::uint32_t digits = stream.name + shard * 0x9e3779b1u;
  std::array<char, 9> hex{};
  std::snprintf(hex.data(), hex.size(), "%08x", digits);
  return "shardId-" + decimal(static_cast<std::uint64_t>(created), 20) + "-" + hex.data();
}

bool all_digits(std::string_view text) { return text.find_first_not_of("0123456789") == text.npos; }

// Cuts `text` after the first `separator` and returns the part before it.
std::optional<std::string_view> take_until(std::string_view& text, std::string_view separator) {
  auto end = text.find(separator);
  if (end == text.npos) return std::nullopt;
  std::string_view head = text.substr(0, end);
  text.remove_prefix(end + separator.size());
  return head;
}

}  // namespace

std::string stream_arn(const engine::Stream& stream) {
  return table_arn({stream.account, stream.region}, stream.table_name) + "/stream/" + stream.label;
}

std::optional<StreamName> parse_stream_arn(std::string_view arn) {
  auto before = take_until(arn, "arn:aws:dynamodb:");
  if (!before || !before->empty()) return std::nullopt;
  auto region = take_until(arn, ":");
  auto account = take_until(arn, ":table/");
  auto table_name = take_until(arn, "/stream/");
  if (!region || region->empty() || !account || !engine::is_account_id(*account) || !table_name ||
      table_name->empty() || arn.empty() || arn.find('/') != arn.npos) {
    return std::nullopt;
  }
  return StreamName{std::string(*region), std::string(*account), std::string(*table_name), std::string(arn)};
}

std::string shard_id(const engine::Stream& stream, const engine::Shard& shard) {
  return print_shard_id(stream, shard.number, shard.created);
}

std::optional<std::string> parent_shard_id(const engine::Stream& stream, const engine::Shard& shard) {
  if (!shard.parent) return std::nullopt;
  return print_shard_id(stream, shard.parent->number, shard.parent->created);
}

const engine::Shard* find_shard(const engine::Stream& stream, std::string_view id) {
  for (const engine::Shard& shard : stream.shards)
    if (shard_id(stream, shard) == id) return &shard;
  return nullptr;
}

std::string sequence_number(engine::Sequence sequence) { return print_place(place_of(sequence)); }

std::string starting_sequence_number(const engine::Shard& shard) {
  return print_place(starting_place(shard));
}

std::optional<std::string> ending_sequence_number(const engine::Shard& shard) {
  if (!shard.last_sequence) return std::nullopt;
  // A shard that was closed before its first record ends where it began.
  if (*shard.last_sequence < shard.first_sequence) return starting_sequence_number(shard);
  return sequence_number(*shard.last_sequence);
}

std::optional<SequencePosition> parse_sequence_number(std::string_view text) {
  if (!all_digits(text)) return std::nullopt;
  // Leading zeros do not change the number.
  while (!text.empty() && text.front() == '0') text.remove_prefix(1);
  if (text.size() != sequence_digits + 1 || text.front() != '1') return std::nullopt;
  std::uint64_t place = 0;
  for (char digit : text.substr(1)) {
    if (__builtin_mul_overflow(place, 10, &place) ||
        __builtin_add_overflow(place, static_cast<std::uint64_t>(digit - '0'), &place)) {
      return std::nullopt;
    }
  }
  if (place < sequence_step - 1) return std::nullopt;
  // Rounds up to the place of the next record.
  const std::uint64_t at = place / sequence_step + (place % sequence_step == 0 ? 0 : 1);
  // The number is higher than that of any record.
  if (at > std::numeric_limits<std::uint64_t>::max() / sequence_step) return std::nullopt;
  return SequencePosition{.at = at - 1, .after = place / sequence_step};
}

std::string ShardIterator::print() const {
  std::string payload;
  append_big_endian(payload, std::uint32_t{shard});
  append_big_endian(payload, std::uint64_t{next});
  append_big_endian(payload, static_cast<std::uint64_t>(created));
  append_big_endian(payload, last_restore);
  append_big_endian(payload, hash(stream_arn + payload, 0));
  return stream_arn + "|1|" + engine::hex(payload);
}

std::optional<ShardIterator> ShardIterator::parse(std::string_view text) {
  auto arn = take_until(text, "|1|");
  if (!arn) return std::nullopt;
  auto payload = from_hex(text);
  if (!payload || payload->size() != payload_bytes) return std::nullopt;
  std::string_view bytes = *payload;
  std::string checked = std::string(*arn).append(bytes.substr(0, payload_bytes - 8));
  if (read_big_endian<std::uint64_t>(bytes.substr(payload_bytes - 8)) != hash(checked, 0))
    return std::nullopt;
  return ShardIterator{
      .stream_arn = std::string(*arn),
      .shard = read_big_endian<std::uint32_t>(bytes),
      .next = read_big_endian<std::uint64_t>(bytes.substr(4)),
      .created = static_cast<engine::Instant>(read_big_endian<std::uint64_t>(bytes.substr(12))),
      .last_restore = read_big_endian<std::uint32_t>(bytes.substr(20))};
}

std::string event_id(const engine::Stream& stream, engine::Sequence sequence) {
  std::string name = stream_arn(stream) + "|" + std::to_string(sequence);
  std::string bytes;
  append_big_endian(bytes, hash(name, 1));
  append_big_endian(bytes, hash(name, 2));
  return engine::hex(bytes);
}

}  // namespace mayfly::compat
