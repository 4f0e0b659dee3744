// GetShardIterator: returns a position in a shard at which reading can start.
//
// {"StreamArn":"arn:…","ShardId":"shardId-00000001731940604149-0000002a",
//  "ShardIteratorType":"TRIM_HORIZON"} ->
// {"ShardIterator":"arn:…|1|000000000000…"}
//
// AT_TIMESTAMP starts at the first record created at or after the request's Timestamp, which is in seconds
// and can have a fraction in milliseconds. AWS's messages for a Timestamp that is missing, not allowed or in
// the future are not known.
#include "compat/operations/operations.h"
#include "compat/streams/arn_and_iterator.h"
#include "compat/streams/lookup.h"
#include "compat/wire/shapes_common.h"
#include "engine/values/number.h"

namespace mayfly::compat {
namespace {

constexpr std::string_view iterator_types[] = {"AFTER_SEQUENCE_NUMBER", "LATEST", "AT_SEQUENCE_NUMBER",
                                               "TRIM_HORIZON", "AT_TIMESTAMP"};
constexpr Shape iterator_type_shape = enum_shape(iterator_types);
constexpr Shape sequence_number_shape = string_shape(21, 40);
constexpr Member members[] = {
    {"StreamArn", &shapes::stream_arn, required},
    {"ShardId", &shapes::shard_id, required},
    {"ShardIteratorType", &iterator_type_shape, required},
    {"SequenceNumber", &sequence_number_shape},
    {"Timestamp", &shapes::timestamp},
};
constexpr Shape shape = structure("GetShardIteratorInput", members);

// The position of the sequence number, which must be within the shard's range.
Result<SequencePosition> position_in(const Context& context, const engine::Shard& shard,
                                     std::string_view text) {
  auto position = parse_sequence_number(text);
  if (!position) return error::validation("Invalid SequenceNumber");
  if (position->at < shard.first_sequence) return error::validation("Invalid SequenceNumber");
  engine::Sequence last = shard.last_sequence.value_or(context.database.watermark().published());
  if (position->at > last && position->after > std::max(last + 1, shard.first_sequence)) {
    return error::validation("Invalid SequenceNumber");
  }
  return *position;
}

// Reads seconds, as sent by AWS's SDKs. Rejects times in the future.
Result<engine::Instant> instant_of(const Context& context, const json::Value& timestamp) {
  const auto seconds = engine::Number::parse(timestamp.number_text());
  const auto instant = seconds ? seconds->floor_scaled(3) : std::nullopt;
  if (!instant || *instant > context.now()) return error::validation("Timestamp must not be in the future");
  return *instant;
}

// The lowest sequence number such that no record with this number or a higher one is older than `instant`.
// Numbers and times increase together.
engine::Sequence first_since(const Context& context, const engine::Stream& stream, const engine::Shard& shard,
                             engine::Instant instant) {
  engine::Sequence first = shard.oldest_sequence,
                   end = shard.last_sequence.value_or(context.database.watermark().published()) + 1;
  while (first < end) {
    const engine::Sequence middle = first + (end - first) / 2;
    const auto records = context.database.change_log().read(stream.id, shard.number, middle, 1, 1).records;
    const bool older = !records.empty() && records.front().created < instant;
    older ? first = records.front().sequence + 1 : end = middle;
  }
  return first;
}

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  std::string_view arn = *string_member(request, "StreamArn");
  std::string_view type = *string_member(request, "ShardIteratorType");
  auto number = string_member(request, "SequenceNumber");
  if (!parse_stream_arn(arn)) return error::validation("Invalid StreamArn");
  bool needs_number = type == "AT_SEQUENCE_NUMBER" || type == "AFTER_SEQUENCE_NUMBER";
  if (needs_number && !number) {
    return error::validation("SequenceNumber is required for ShardIteratorType " + std::string(type));
  }
  if (!needs_number && number) {
    return error::validation("SequenceNumber is not allowed for ShardIteratorType " + std::string(type));
  }
  const json::Value* const timestamp = request.member("Timestamp");
  const bool needs_timestamp = type == "AT_TIMESTAMP";
  if (needs_timestamp != (timestamp != nullptr)) {
    return error::validation("Timestamp is " + std::string(needs_timestamp ? "required" : "not allowed") +
                             " for ShardIteratorType " + std::string(type));
  }
  TRY(engine::Stream stream, find_stream(context, arn));
  std::string_view id = *string_member(request, "ShardId");
  const engine::Shard* shard = find_shard(stream, id);
  if (!shard) return error::resource_not_found("Requested resource not found: Shard does not exist");

  ShardIterator iterator{.stream_arn = std::string(arn),
                         .shard = shard->number,
                         .created = context.database.accounts().of(context.scope.account).stream_now(),
                         .last_restore = stream.last_restore()};
  if (type == "TRIM_HORIZON") {
    iterator.next = shard->oldest_sequence;
  } else if (type == "LATEST") {
    iterator.next = shard->last_sequence.value_or(context.database.watermark().published()) + 1;
  } else if (needs_timestamp) {
    TRY(const engine::Instant instant, instant_of(context, *timestamp));
    iterator.next = first_since(context, stream, *shard, instant);
  } else {
    TRY(SequencePosition position, position_in(context, *shard, *number));
    iterator.next = type == "AT_SEQUENCE_NUMBER" ? position.at : position.after;
    // A record's number identifies that record. A shard's starting number lies between two records.
    const bool names_a_record = position.at < position.after;
    if (iterator.next < shard->oldest_sequence || (names_a_record && stream.is_undone(position.at))) {
      return error::trimmed_data_access("The data you are trying to access has been trimmed.");
    }
  }
  out.begin_object();
  out.key("ShardIterator");
  out.string(iterator.print());
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::get_shard_iterator{
    dynamodb_streams, "GetShardIterator", Access::control, TablesIn::stream_arn, &shape, &run};

}  // namespace mayfly::compat
