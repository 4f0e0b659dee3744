// The words in which a request is refused.
//
// AWS is moving its operations, one by one and part by part, to a new front end. An operation's definition
// (compat/operation.h) says how far it has come. Shapes, the reader of values and the readers of expressions
// ask here what follows from that:
//
//   frame        a length or a range                     a value or an expression
//   older        Value '0' at 'limit' failed to satisfy …  Input collection [a, a] contains duplicates.
//   handed_over  Value '0' at 'limit' failed to satisfy …  Input collection [a, a] contains duplicates.
//   model        Value at 'Limit' failed to satisfy …      Input collection [a, a] contains duplicates.
//   bare         Value at 'Limit' failed to satisfy …      Input collection ["a", "a"] contains duplicates.
//   enveloped    Value at 'Limit' failed to satisfy …      1 validation error detected: Input collection
//                                                          ["a", …
//
// A frame belongs to a request. The new front end hands a request that it cannot read over to the old one,
// which words everything in its own way and reports all that it finds: a request that lacks a required member
// (shape.h), or that nests too deep (newer_depth_max). Such a request has the frame `handed_over` whatever
// its operation is.
//
// Rules: answers recorded on AWS from August to October 2026; docs/differences.md compares them with older
// ones. In all frames the words for a missing member, a pattern and an enum are the old ones, except for two
// enums (Shape::unnamed_values).
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "compat/wire/error.h"

namespace mayfly::compat {

// Each has what those before it have.
enum class Frame : std::uint8_t { older, handed_over, model, bare, enveloped };

// How deep arrays and objects of a request may nest for the new front end. Recorded: it reads values of some
// 62 levels, two arrays or objects each, and hands over those of 63, in Key and in
// ExpressionAttributeValues as in Expected. 127 is the depth to which the usual JSON readers of Rust go.
inline constexpr int newer_depth_max = 127;

// The frame of a request whose arrays and objects nest that deep.
constexpr Frame frame_at_depth(Frame of_operation, int depth) {
  return depth > newer_depth_max && of_operation > Frame::handed_over ? Frame::handed_over : of_operation;
}

// An empty table name is shorter than one character. To operations that have not moved it is shorter than
// three, and matches no pattern.
constexpr bool takes_one_character(Frame frame) { return frame >= Frame::handed_over; }

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
