// How AWS's newest front end reads a request: required members must be there and must not be null.
//
//   CHECK_OK(read_strictly(shape, R"({"TableName":null})"));
//     -> SerializationException: invalid type: null, expected a string at line 1 column 17
//   CHECK_OK(read_strictly(shape, "{}"));
//     -> SerializationException: missing field `TableName` at line 1 column 2
//
// The words and the places are serde_json's, a library for Rust: a place is the last byte that was read.
// Answers recorded on AWS from August to October 2026.
#pragma once

#include <string_view>

#include "compat/wire/error.h"
#include "compat/wire/shape.h"

namespace mayfly::compat {

// Requires: `body` is a JSON object. Looks at its own members only, in their order.
Result<void> read_strictly(const Shape& structure, std::string_view body);

}  // namespace mayfly::compat
