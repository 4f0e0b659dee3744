// One table: operation name -> its shape and its run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "compat/error.h"
#include "compat/json.h"
#include "compat/shape.h"
#include "engine/database.h"

namespace mayfly::compat {

// Who asks, and of what.
struct Context {
  engine::Database& database;
  const engine::Scope& scope;
  [[nodiscard]] engine::Instant now() const { return database.now(scope.account); }
};

// Writes the answer's body, one JSON object; an error leaves `out` to be thrown away.
using Run = Result<void> (*)(Context& context, const json::Value& request, json::Writer& out);

struct Operation {
  std::string_view service;  // "DynamoDB_20120810" or "DynamoDBStreams_20120810"
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

// Parse, check types, check constraints, run; errors become their answers, StorageFault a 500.
Answer dispatch(Context& context, std::string_view target, std::string_view body);

}  // namespace mayfly::compat
