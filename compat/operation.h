// What an operation is: its name, what its request looks like, what it does.
//
// One file in operations/ defines it beside its shape and its run (a family that shares its rules may share
// one):
//
//   constexpr Shape shape = structure("PutItemInput", members);
//   Result<void> run(Context& context, const json::Value& request, json::Writer& out) { … }
//   constinit const Operation operations::put_item{dynamodb, "PutItem", &shape, &run};
//
// To add one: its declaration in operations/operations.h and its line in dispatch.cc's table.
#pragma once

#include <string_view>

#include "compat/context.h"
#include "compat/wire/error.h"
#include "compat/wire/json.h"
#include "compat/wire/shape.h"

namespace mayfly::compat {

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

}  // namespace mayfly::compat
