// GetRecords: a shard's records in order, starting at an iterator; at most 1,000 records and 1 MB.
//
// {"ShardIterator":"arn:…|1|…","Limit":1} ->
// {"Records":[{"eventID":"13632bb66cf8c76f61ab676f7d2e9f07","eventName":"REMOVE","eventVersion":"1.1",
//   "eventSource":"aws:dynamodb","awsRegion":"us-east-1",
//   "dynamodb":{"ApproximateCreationDateTime":1700000000,"Keys":{"pk":{"S":"a"}},
//     "OldImage":{"pk":{"S":"a"},"ttl":{"N":"1699999999"}},"SequenceNumber":"100000000000000004200",
//     "SizeBytes":14,"StreamViewType":"NEW_AND_OLD_IMAGES"},
//   "userIdentity":{"Type":"Service","PrincipalId":"dynamodb.amazonaws.com"}}],
//  "NextShardIterator":"arn:…|1|…"}
#include "compat/operations/operations.h"
#include "compat/streams/arn_and_iterator.h"
#include "compat/streams/lookup.h"
#include "compat/streams/record.h"
#include "compat/wire/shapes_common.h"

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

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  auto iterator = ShardIterator::parse(*string_member(request, "ShardIterator"));
  if (!iterator) return error::validation("Invalid ShardIterator");
  TRY(engine::Stream stream, find_stream(context, iterator->stream_arn));
  engine::Instant now = context.database.accounts().of(context.scope.account).stream_now();
  if (now - iterator->created >= iterator_lifetime_ms) {
    return error::expired_iterator("The provided iterator exceeds the maximum age allowed.");
  }
  if (iterator->next < context.database.change_log().oldest_sequence(stream.id, iterator->shard) ||
      stream.has_lost(iterator->next, iterator->last_restore)) {
    return error::trimmed_data_access("The data you are trying to access has been trimmed.");
  }
  auto limit = static_cast<std::size_t>(integer_member(request, "Limit").value_or(records_max));
  auto page =
      context.database.change_log().read(stream.id, iterator->shard, iterator->next, limit, page_bytes_max);

  out.begin_object();
  out.key("Records");
  out.begin_array();
  for (const engine::ChangeRecord& record : page.records) write_stream_record(out, stream, record);
  out.end_array();
  // The last page of a closed shard has no next iterator.
  if (!page.ended) {
    ShardIterator next{.stream_arn = iterator->stream_arn,
                       .shard = iterator->shard,
                       .next = page.next,
                       .created = now,
                       .last_restore = stream.last_restore()};
    out.key("NextShardIterator");
    out.string(next.print());
  }
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::get_records{dynamodb_streams,         "GetRecords", Access::reads,
                                                  TablesIn::shard_iterator, &shape,       &run};

}  // namespace mayfly::compat
