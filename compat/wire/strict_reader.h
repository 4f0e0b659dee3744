// Reads a request as AWS's newest front end does: required members must be present and not null.
//
//   CHECK_OK(read_strictly(shape, R"({"TableName":null})"));
//     -> SerializationException: invalid type: null, expected a string at line 1 column 17
//   CHECK_OK(read_strictly(shape, "{}"));
//     -> SerializationException: missing field `TableName` at line 1 column 2
//
// The messages and positions are those of serde_json, a Rust library: a position is that of the last byte
// read. Source: responses recorded on AWS from August to October 2026.
#pragma once

#include <string_view>

#include "compat/wire/error.h"
#include "compat/wire/shape.h"

namespace mayfly::compat {

// Requires: `body` is a JSON object. Checks only its top-level members, in the order of the text.
Result<void> read_strictly(const Shape& structure, std::string_view body);

}  // namespace mayfly::compat
