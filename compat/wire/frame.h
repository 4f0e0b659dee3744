// In which words an operation refuses what is wrong with a request.
//
// AWS moves its operations, one by one and part by part, from one way of validating requests to another. How
// far an operation has come stands in one place, its definition (compat/operation.h); shapes, the reader of
// values and the entries of expressions ask it here:
//
//   frame       a length or a range                     a value or an expression
//   older       Value '0' at 'limit' failed to satisfy …  Input collection [a, a] contains duplicates.
//   model       Value at 'Limit' failed to satisfy …      Input collection [a, a] contains duplicates.
//   bare        Value at 'Limit' failed to satisfy …      Input collection ["a", "a"] contains duplicates.
//   enveloped   Value at 'Limit' failed to satisfy …      1 validation error detected: Input collection ["a",
//   …
//
// Rules: answers recorded on AWS in September and October 2026; docs/differences.md has what older ones say.
// What is missing, matches no pattern or is no value of an enum is worded in all of them as it was, but for
// two enums (Shape::unnamed_values).
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "compat/wire/error.h"

namespace mayfly::compat {

// Each has what those before it have.
enum class Frame : std::uint8_t { older, model, bare, enveloped };

// Lengths and ranges are those of members as the model calls them, and values are not repeated.
constexpr bool names_by_model(Frame frame) { return frame >= Frame::model; }
// Values and expressions are refused in newer words.
constexpr bool has_newer_words(Frame frame) { return frame >= Frame::bare; }
// The same words with nothing around them: for parts of what goes through in_frame as a whole.
constexpr Frame inside(Frame frame) { return frame == Frame::enveloped ? Frame::bare : frame; }

// What came of reading a request's values or expressions, with an error as the operation says it.
template <class T>
Result<T> in_frame(Frame frame, Result<T> read) {
  if (read || frame != Frame::enveloped || read.error().kind != Error::Kind::validation) return read;
  Error error = std::move(read).error();
  error.message = error::cut("1 validation error detected: " + error.message);
  return Unexpected{std::move(error)};
}

}  // namespace mayfly::compat
