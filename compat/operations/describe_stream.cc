// DescribeStream: a stream's view, keys and shards. A closed shard has an EndingSequenceNumber.
//
// {"StreamArn":"arn:…"} ->
// {"StreamDescription":{"StreamArn":"arn:…","StreamLabel":"2024-11-18T14:36:44.149",
//   "StreamStatus":"ENABLED","StreamViewType":"KEYS_ONLY","CreationRequestDateTime":1731940604.149,"TableName":"carts",
//   "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
//   "Shards":[{"ShardId":"shardId-00000001731940604149-0000002a",
//     "SequenceNumberRange":{"StartingSequenceNumber":"100000000000000000199"}}]}}
#include "compat/operations/describe_stream.h"

#include "compat/shapes_common.h"
#include "compat/stream_iterator.h"
#include "compat/stream_rules.h"
#include "compat/table_description.h"

namespace mayfly::compat {
namespace {

constexpr std::string_view filter_types[] = {"CHILD_SHARDS"};
constexpr Shape filter_type_shape = enum_shape(filter_types);
// The API model has neither as required, but the service refuses one without the other.
constexpr Member filter_members[] = {
    {"Type", &filter_type_shape, required},
    {"ShardId", &shapes::shard_id, required},
};
constexpr Shape filter_shape = structure("ShardFilter", filter_members);
constexpr Shape limit_shape = integer_shape(1, 100);
constexpr Member members[] = {
    {"StreamArn", &shapes::stream_arn, required},
    {"Limit", &limit_shape},
    {"ExclusiveStartShardId", &shapes::shard_id},
    {"ShardFilter", &filter_shape},
};
constexpr Shape shape = structure("DescribeStreamInput", members);

void write_shard(json::Writer& out, const engine::Stream& stream) {
  out.begin_object();
  out.key("ShardId");
  out.string(shard_id(stream));
  out.key("SequenceNumberRange");
  out.begin_object();
  out.key("StartingSequenceNumber");
  out.string(starting_sequence_number(stream));
  if (auto ending = ending_sequence_number(stream)) {
    out.key("EndingSequenceNumber");
    out.string(*ending);
  }
  out.end_object();
  out.end_object();
}

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  TRY(engine::Stream stream, find_stream(context, *string_member(request, "StreamArn")));
  // Shards are listed by id. The only one has no children, and comes after a start that sorts before it; a
  // start that names no shard is no error.
  auto start = string_member(request, "ExclusiveStartShardId");
  bool has_shard = request.member("ShardFilter") == nullptr && (!start || *start < shard_id(stream));

  out.begin_object();
  out.key("StreamDescription");
  out.begin_object();
  out.key("StreamArn");
  out.string(stream_arn(stream));
  out.key("StreamLabel");
  out.string(stream.label);
  out.key("StreamStatus");
  out.string(stream.disabled ? "DISABLED" : "ENABLED");
  out.key("StreamViewType");
  out.string(stream_view_name(stream.view));
  out.key("CreationRequestDateTime");
  out.seconds(stream.created);
  out.key("TableName");
  out.string(stream.table_name);
  write_key_schema(out, stream.keys);
  out.key("Shards");
  out.begin_array();
  if (has_shard) write_shard(out, stream);
  out.end_array();
  out.end_object();
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::describe_stream{dynamodb_streams, "DescribeStream", &shape, &run};

}  // namespace mayfly::compat
