// GetShardIterator: where in a shard to begin reading.
//
// {"StreamArn":"arn:…","ShardId":"shardId-00000001731940604149-0000002a",
//  "ShardIteratorType":"TRIM_HORIZON"} ->
// {"ShardIterator":"arn:…|1|000000000000…"}
#include "compat/operations/operations.h"
#include "compat/streams/arn_and_iterator.h"
#include "compat/streams/lookup.h"
#include "compat/wire/shapes_common.h"

namespace mayfly::compat {
namespace {

constexpr std::string_view iterator_types[] = {"AFTER_SEQUENCE_NUMBER", "LATEST", "AT_SEQUENCE_NUMBER",
                                               "TRIM_HORIZON"};
constexpr Shape iterator_type_shape = enum_shape(iterator_types);
constexpr Shape sequence_number_shape = string_shape(21, 40);
constexpr Member members[] = {
    {"StreamArn", &shapes::stream_arn, required},
    {"ShardId", &shapes::shard_id, required},
    {"ShardIteratorType", &iterator_type_shape, required},
    {"SequenceNumber", &sequence_number_shape},
    {"Timestamp", nullptr, unsupported},
};
constexpr Shape shape = structure("GetShardIteratorInput", members);

// The number's position, within what the shard may hold.
Result<SequencePosition> position_in(const Context& context, const engine::Shard& shard,
                                     std::string_view text) {
  auto position = parse_sequence_number(text);
  if (!position) return error::validation("Invalid SequenceNumber");
  if (position->at < shard.first_sequence) return error::validation("Invalid SequenceNumber");
  engine::Sequence last = shard.last_sequence.value_or(context.database.published());
  if (position->at > last && position->after > std::max(last + 1, shard.first_sequence)) {
    return error::validation("Invalid SequenceNumber");
  }
  return *position;
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
  TRY(engine::Stream stream, find_stream(context, arn));
  std::string_view id = *string_member(request, "ShardId");
  const engine::Shard* shard = find_shard(stream, id);
  if (!shard) return error::resource_not_found("Requested resource not found: Shard does not exist");

  ShardIterator iterator{.stream_arn = std::string(arn),
                         .shard = shard->number,
                         .created = context.database.stream_now(context.scope.account),
                         .last_restore = stream.last_restore()};
  if (type == "TRIM_HORIZON") {
    iterator.next = shard->oldest_sequence;
  } else if (type == "LATEST") {
    iterator.next = shard->last_sequence.value_or(context.database.published()) + 1;
  } else {
    TRY(SequencePosition position, position_in(context, *shard, *number));
    iterator.next = type == "AT_SEQUENCE_NUMBER" ? position.at : position.after;
    // A record's own number names one and the same; a shard's limit lies between two.
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
