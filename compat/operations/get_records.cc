// GetRecords: a shard's records from an iterator on, in order; at most 1,000 of them or about 1 MB.
//
// The identity is spelled with capitals here; Lambda events and Kinesis records spell it without. SDKs drop
// members that are spelled the other way, and a user's write has none at all.
//
// {"ShardIterator":"arn:…|1|…","Limit":1} ->
// {"Records":[{"eventID":"13632bb66cf8c76f61ab676f7d2e9f07","eventName":"REMOVE","eventVersion":"1.1",
//   "eventSource":"aws:dynamodb","awsRegion":"us-east-1",
//   "dynamodb":{"ApproximateCreationDateTime":1700000000,"Keys":{"pk":{"S":"a"}},
//     "OldImage":{"pk":{"S":"a"},"ttl":{"N":"1699999999"}},"SequenceNumber":"100000000000000004200",
//     "SizeBytes":14,"StreamViewType":"NEW_AND_OLD_IMAGES"},
//   "userIdentity":{"Type":"Service","PrincipalId":"dynamodb.amazonaws.com"}}],
//  "NextShardIterator":"arn:…|1|…"}
#include "compat/operations/get_records.h"

#include "compat/attribute_value_json.h"
#include "compat/shapes_common.h"
#include "compat/stream_iterator.h"
#include "compat/stream_rules.h"
#include "compat/table_description.h"

namespace mayfly::compat {
namespace {

constexpr std::int64_t records_max = 1000;
constexpr std::size_t page_bytes_max = 1024 * 1024;

constexpr Shape iterator_shape = string_shape(1, 2048);
constexpr Shape limit_shape = integer_shape(1, records_max);
constexpr Member members[] = {
    {"ShardIterator", &iterator_shape, required},
    {"Limit", &limit_shape},
};
constexpr Shape shape = structure("GetRecordsInput", members);

std::string_view event_name(engine::ChangeRecord::Kind kind) {
  switch (kind) {
    case engine::ChangeRecord::Kind::insert: return "INSERT";
    case engine::ChangeRecord::Kind::modify: return "MODIFY";
    case engine::ChangeRecord::Kind::remove: return "REMOVE";
  }
  return {};
}

void write_change(json::Writer& out, const engine::Stream& stream, const engine::ChangeRecord& record) {
  out.begin_object();
  out.key("ApproximateCreationDateTime");
  out.integer(record.created / 1000);  // AWS rounds down to the second
  out.key("Keys");
  write_item_object(out, record.keys);
  if (record.new_image) {
    out.key("NewImage");
    write_item_object(out, *record.new_image);
  }
  if (record.old_image) {
    out.key("OldImage");
    write_item_object(out, *record.old_image);
  }
  out.key("SequenceNumber");
  out.string(sequence_number(record.sequence));
  out.key("SizeBytes");
  out.integer(static_cast<std::int64_t>(record.size_bytes));
  out.key("StreamViewType");
  out.string(stream_view_name(stream.view));
  out.end_object();
}

void write_record(json::Writer& out, const engine::Stream& stream, const engine::ChangeRecord& record) {
  out.begin_object();
  out.key("eventID");
  out.string(event_id(stream, record.sequence));
  out.key("eventName");
  out.string(event_name(record.kind));
  out.key("eventVersion");
  out.string("1.1");
  out.key("eventSource");
  out.string("aws:dynamodb");
  out.key("awsRegion");
  out.string(stream.region);
  out.key("dynamodb");
  write_change(out, stream, record);
  if (record.cause == engine::Cause::time_to_live) {
    out.key("userIdentity");
    out.begin_object();
    out.key("Type");
    out.string("Service");
    out.key("PrincipalId");
    out.string("dynamodb.amazonaws.com");
    out.end_object();
  }
  out.end_object();
}

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  auto iterator = ShardIterator::parse(*string_member(request, "ShardIterator"));
  if (!iterator || iterator->shard != 0) return error::validation("Invalid ShardIterator");
  TRY(engine::Stream stream, find_stream(context, iterator->stream_arn));
  engine::Instant now = context.database.stream_now(context.scope.account);
  if (now - iterator->created >= iterator_lifetime_ms) {
    return error::expired_iterator("The provided iterator exceeds the maximum age allowed.");
  }
  if (iterator->next < context.database.oldest_sequence(stream.id)) {
    return error::trimmed_data_access("The data you are trying to access has been trimmed.");
  }
  auto limit = static_cast<std::size_t>(integer_member(request, "Limit").value_or(records_max));
  auto page = context.database.read_stream(stream.id, iterator->next, limit, page_bytes_max);

  out.begin_object();
  out.key("Records");
  out.begin_array();
  for (const engine::ChangeRecord& record : page.records) write_record(out, stream, record);
  out.end_array();
  // A closed shard ends: its last page has no next iterator.
  bool ended = stream.last_sequence && (page.at_end || page.next > *stream.last_sequence);
  if (!ended) {
    ShardIterator next{.stream_arn = iterator->stream_arn, .next = page.next, .created = now};
    out.key("NextShardIterator");
    out.string(next.print());
  }
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::get_records{dynamodb_streams, "GetRecords", &shape, &run};

}  // namespace mayfly::compat
