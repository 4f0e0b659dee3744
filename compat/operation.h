// Describes an operation: its name, the tables that it uses, the shape of its request, and the function that
// runs it.
//
// One file in operations/ defines an operation together with its shape and its run function (a family that
// shares rules can share one file):
//
//   constexpr Shape shape = structure("PutItemInput", members);
//   Result<void> run(Context& context, const json::Value& request, json::Writer& out) { … }
//   constinit const Operation operations::put_item{dynamodb, "PutItem", Access::writes,
//                                                  TablesIn::table_name, &shape, &run};
//
// To add an operation, add its declaration to operations/operations.h and its line to dispatch.cc's table.
#pragma once

#include <cstdint>
#include <string_view>

#include "compat/context.h"
#include "compat/json/json.h"
#include "compat/wire/error.h"
#include "compat/wire/frame.h"
#include "compat/wire/shape.h"

namespace mayfly::compat {

// Writes the response body: one JSON object or nothing. After an error, the caller discards `out`.
using Run = Result<void> (*)(Context& context, const json::Value& request, json::Writer& out);

inline constexpr std::string_view dynamodb = "DynamoDB_20120810";
inline constexpr std::string_view dynamodb_streams = "DynamoDBStreams_20120810";

// How an operation accesses items. AWS counts reads and writes against a table's throughput, and counts all
// other operations as requests.
enum class Access : std::uint8_t {
  control,  // accesses no items, only tables, streams or the account
  reads,    // reads items or a stream's records
  writes,   // writes items, always or depending on its statement
};

// Which member of the request names its tables.
enum class TablesIn : std::uint8_t {
  nothing,         // names no table, or names it only in a statement or in an ARN of another kind
  table_name,      // "TableName", a name or an ARN
  request_items,   // the names of the members of "RequestItems"
  transact_items,  // "TableName" in each entry of "TransactItems"
  stream_arn,      // "StreamArn"
  shard_iterator,  // "ShardIterator", which contains the stream's ARN
};

// How many commits one execution of the operation makes.
enum class Extent : std::uint8_t {
  one_commit,       // reads and commits at most once, and can be restarted until then
  several_commits,  // makes several commits, one after another
  whole_tables,     // visits all items of a table
};

struct Operation {
  std::string_view service;  // dynamodb or dynamodb_streams
  std::string_view name;     // "PutItem"
  Access access;
  TablesIn tables_in;
  const Shape* shape;
  Run run;
  Frame frame = Frame::older;  // the frame of requests that AWS's newer front end parses (wire/frame.h)
  Extent extent = Extent::one_commit;
  bool reads_strictly = false;  // see wire/strict_reader.h

  // Whether the operation can leave part of a request undone and report that part in "UnprocessedItems" or
  // "UnprocessedKeys".
  [[nodiscard]] bool is_batch() const { return tables_in == TablesIn::request_items; }
};

}  // namespace mayfly::compat
