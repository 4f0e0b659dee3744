// DescribeStream: a stream's view, keys and shards, sorted by shard id. A closed shard has an
// EndingSequenceNumber.
//
// {"StreamArn":"arn:…"} ->
// {"StreamDescription":{"StreamArn":"arn:…","StreamLabel":"2024-11-18T14:36:44.149",
//   "StreamStatus":"ENABLED","StreamViewType":"KEYS_ONLY","CreationRequestDateTime":1731940604.149,
//   "TableName":"carts","KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
//   "Shards":[{"ShardId":"shardId-00000001731940604149-0000002a",
//     "SequenceNumberRange":{"StartingSequenceNumber":"100000000000000000199"}}]}}
#include <map>
#include <string>

#include "compat/operations/operations.h"
#include "compat/streams/arn_and_iterator.h"
#include "compat/streams/lookup.h"
#include "compat/tables/description.h"
#include "compat/wire/shapes_common.h"

namespace mayfly::compat {
namespace {

constexpr std::string_view filter_types[] = {"CHILD_SHARDS"};
constexpr Shape filter_type_shape = enum_shape(filter_types);
// The API model does not mark these members as required, but AWS rejects a filter that lacks one of them.
constexpr Member filter_members[] = {
    {"Type", &filter_type_shape, required},
    {"ShardId", &shapes::shard_id, required},
};
constexpr Shape filter_shape = structure("ShardFilter", filter_members);
constexpr std::int64_t shards_max = 100;
constexpr Shape limit_shape = integer_shape(1, shards_max);
constexpr Member members[] = {
    {"StreamArn", &shapes::stream_arn, required},
    {"Limit", &limit_shape},
    {"ExclusiveStartShardId", &shapes::shard_id},
    {"ShardFilter", &filter_shape},
};
constexpr Shape shape = structure("DescribeStreamInput", members);

// The shards by id; a page shows some of them. No state is kept between pages. Shards that are trimmed or
// opened in between do not cause other shards to be skipped or repeated.
using ShardsById = std::map<std::string, const engine::Shard*>;

ShardsById shards_asked_for(const json::Value& request, const engine::Stream& stream) {
  const json::Value* filter = request.member("ShardFilter");
  std::optional<std::string_view> parent = filter ? string_member(*filter, "ShardId") : std::nullopt;
  ShardsById shards;
  for (const engine::Shard& shard : stream.shards)
    if (!parent || parent_shard_id(stream, shard) == *parent) shards.emplace(shard_id(stream, shard), &shard);
  // A start id that does not belong to a shard is not an error.
  if (auto start = string_member(request, "ExclusiveStartShardId"))
    shards.erase(shards.begin(), shards.upper_bound(std::string(*start)));
  return shards;
}

void write_shard(json::Writer& out, const engine::Stream& stream, const engine::Shard& shard) {
  out.begin_object();
  out.key("ShardId");
  out.string(shard_id(stream, shard));
  out.key("SequenceNumberRange");
  out.begin_object();
  out.key("StartingSequenceNumber");
  out.string(starting_sequence_number(shard));
  if (auto ending = ending_sequence_number(shard)) {
    out.key("EndingSequenceNumber");
    out.string(*ending);
  }
  out.end_object();
  if (auto parent = parent_shard_id(stream, shard)) {
    out.key("ParentShardId");
    out.string(*parent);
  }
  out.end_object();
}

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  TRY(engine::Stream stream, find_stream(context, *string_member(request, "StreamArn")));
  const ShardsById shards = shards_asked_for(request, stream);
  auto left = static_cast<std::size_t>(integer_member(request, "Limit").value_or(shards_max));

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
  auto shard = shards.begin();
  for (; shard != shards.end() && left > 0; ++shard, --left) write_shard(out, stream, *shard->second);
  out.end_array();
  if (shard != shards.end()) {
    out.key("LastEvaluatedShardId");
    out.string(std::prev(shard)->first);
  }
  out.end_object();
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::describe_stream{dynamodb_streams,     "DescribeStream", Access::control,
                                                      TablesIn::stream_arn, &shape,           &run};

}  // namespace mayfly::compat
