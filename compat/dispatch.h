// One table: operation name -> its shape and its run.
//
// An operation is one file in operations/ (a family that shares its rules may share one), whose header
// declares `namespace mayfly::compat::operations { extern const Operation put_item; }` and whose .cc
// defines it beside its shape and its run:
//
//   constexpr Shape shape = structure("PutItemInput", members);
//   Result<void> run(Context& context, const json::Value& request, json::Writer& out) { … }
//   constinit const Operation operations::put_item{dynamodb, "PutItem", &shape, &run};
//
// To add one: its header's include and its line in dispatch.cc's table.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compat/error.h"
#include "compat/json.h"
#include "compat/shape.h"
#include "engine/database.h"

namespace mayfly::compat {

class TableChanges;
namespace kinesis {
class Destinations;
}

// Who asks, and of what.
struct Context {
  engine::Database& database;
  TableChanges& table_changes;  // table_changes.h
  kinesis::Destinations& kinesis;  // kinesis/destinations.h
  const engine::Scope& scope;
  std::string_view host;  // as the client named us: "127.0.0.1:8000"; empty in process
  std::size_t unprocessed = 0;  // items of a batch's end that shall be left undone: faults.h
  std::chrono::milliseconds ttl_cooldown{0};  // between two changes of a table's TimeToLive
  std::optional<std::size_t> collection_bytes_max;  // item_collections.h
  [[nodiscard]] engine::Instant now() const { return database.now(scope.account); }
};

// Writes the answer's body, one JSON object or nothing; an error leaves `out` to be thrown away.
using Run = Result<void> (*)(Context& context, const json::Value& request, json::Writer& out);

inline constexpr std::string_view dynamodb = "DynamoDB_20120810";
inline constexpr std::string_view dynamodb_streams = "DynamoDBStreams_20120810";

struct Operation {
  std::string_view service;  // dynamodb or dynamodb_streams
  std::string_view name;     // "PutItem"
  const Shape* shape;
  Run run;
};

// nullptr: there is no such operation. Target is "DynamoDB_20120810.PutItem".
const Operation* find_operation(std::string_view target);

struct Answer {
  int status = 200;
  std::string body;
};

// The answer that an error makes: its status and body.
Answer error_answer(const Error& error);

// Every operation, in the table's order.
std::span<const Operation* const> all_operations();

// Parse, check types, check constraints, run; errors become their answers, StorageFault a 500.
Answer dispatch(Context& context, const Operation& operation, std::string_view body);

}  // namespace mayfly::compat
