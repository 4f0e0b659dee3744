// What an operation is: its name, what it is about, what its request looks like, what it does.
//
// One file in operations/ defines it beside its shape and its run (a family that shares its rules may share
// one):
//
//   constexpr Shape shape = structure("PutItemInput", members);
//   Result<void> run(Context& context, const json::Value& request, json::Writer& out) { … }
//   constinit const Operation operations::put_item{dynamodb, "PutItem", Access::writes,
//                                                  TablesIn::table_name, &shape, &run};
//
// To add one: its declaration in operations/operations.h and its line in dispatch.cc's table.
#pragma once

#include <cstdint>
#include <string_view>

#include "compat/context.h"
#include "compat/wire/error.h"
#include "compat/wire/frame.h"
#include "compat/wire/json.h"
#include "compat/wire/shape.h"

namespace mayfly::compat {

// Writes the answer's body, one JSON object or nothing; an error leaves `out` to be thrown away.
using Run = Result<void> (*)(Context& context, const json::Value& request, json::Writer& out);

inline constexpr std::string_view dynamodb = "DynamoDB_20120810";
inline constexpr std::string_view dynamodb_streams = "DynamoDBStreams_20120810";

// What it does to items. AWS counts what reads and writes against a table's throughput, all else as requests.
enum class Access : std::uint8_t {
  control,  // nothing: it is about tables, streams or the account
  reads,    // items, or a stream's records of them
  writes,   // or may, as its statement says
};

// Where its request names the tables that it is about.
enum class TablesIn : std::uint8_t {
  nothing,         // it is about none, or says so in a statement, in another ARN
  table_name,      // "TableName", a name or an ARN
  request_items,   // the names of the members of "RequestItems"
  transact_items,  // "TableName" of what each of "TransactItems" has
  stream_arn,      // "StreamArn"
  shard_iterator,  // "ShardIterator", which has the stream's ARN in it
};

// How far an operation reaches.
enum class Extent : std::uint8_t {
  one_commit,       // it reads, and commits once, if at all: until then it can be begun again
  several_commits,  // one after the other
  whole_tables,     // it looks at all items of a table, however many there are
};

struct Operation {
  std::string_view service;  // dynamodb or dynamodb_streams
  std::string_view name;     // "PutItem"
  Access access;
  TablesIn tables_in;
  const Shape* shape;
  Run run;
  Frame frame = Frame::older;  // of requests that the new front end reads: wire/frame.h
  Extent extent = Extent::one_commit;
  bool reads_strictly = false;  // as wire/strict_reader.h has it

  // Whether it may leave a part of a request undone and say so: "UnprocessedItems", "UnprocessedKeys".
  [[nodiscard]] bool is_batch() const { return tables_in == TablesIn::request_items; }
};

}  // namespace mayfly::compat
