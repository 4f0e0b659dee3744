// ListStreams: the streams of one table or of all tables, sorted by table and label. Includes enabled streams
// and those closed within the last day.
//
// {"TableName":"carts","Limit":1} ->
// {"Streams":[{"StreamArn":"arn:…/stream/2024-11-18T14:36:44.149","TableName":"carts",
//   "StreamLabel":"2024-11-18T14:36:44.149"}],
//  "LastEvaluatedStreamArn":"arn:…/stream/2024-11-18T14:36:44.149"}
#include <tuple>

#include "compat/operations/operations.h"
#include "compat/streams/arn_and_iterator.h"
#include "compat/streams/lookup.h"
#include "compat/wire/shapes_common.h"

namespace mayfly::compat {
namespace {

constexpr std::int64_t streams_max = 100;

constexpr Shape limit_shape = integer_shape(1, streams_max);
constexpr Member members[] = {
    {"TableName", &shapes::table_name},
    {"Limit", &limit_shape},
    {"ExclusiveStartStreamArn", &shapes::stream_arn},
};
constexpr Shape shape = structure("ListStreamsInput", members);

Result<void> run(Context& context, const json::Value& request, json::Writer& out) {
  auto table_name = string_member(request, "TableName");
  auto limit = static_cast<std::size_t>(integer_member(request, "Limit").value_or(streams_max));
  // The start stream may no longer exist: a page that starts after a deleted table's stream skips and repeats
  // nothing.
  std::optional<StreamName> start;
  if (auto arn = string_member(request, "ExclusiveStartStreamArn")) {
    start = parse_stream_arn(*arn);
    if (!start) return error::validation("Invalid StreamArn");
  }

  std::vector<engine::Stream> page;
  bool more = false;
  for (engine::Stream& stream : context.database.catalog().streams(context.scope)) {
    if (table_name && stream.table_name != *table_name) continue;
    if (start && std::tie(stream.table_name, stream.label) <= std::tie(start->table_name, start->label)) {
      continue;
    }
    if (page.size() == limit) {
      more = true;
      break;
    }
    page.push_back(std::move(stream));
  }

  out.begin_object();
  out.key("Streams");
  out.begin_array();
  for (const engine::Stream& stream : page) {
    out.begin_object();
    out.key("StreamArn");
    out.string(stream_arn(stream));
    out.key("TableName");
    out.string(stream.table_name);
    out.key("StreamLabel");
    out.string(stream.label);
    out.end_object();
  }
  out.end_array();
  if (more) {
    out.key("LastEvaluatedStreamArn");
    out.string(stream_arn(page.back()));
  }
  out.end_object();
  return {};
}

}  // namespace

constinit const Operation operations::list_streams{dynamodb_streams,     "ListStreams", Access::control,
                                                   TablesIn::table_name, &shape,        &run};

}  // namespace mayfly::compat
