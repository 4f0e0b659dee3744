// Frame: how AWS words the errors of a request.
//
// AWS is moving its operations, one by one and part by part, to a new front end. An operation's definition
// (compat/operation.h) says how far the operation has moved. Shapes and the readers of values and expressions
// get the wording from here:
//
//   frame        a length or a range                     a value or an expression
//   older        Value '0' at 'limit' failed to satisfy …  Input collection [a, a] contains duplicates.
//   handed_over  Value '0' at 'limit' failed to satisfy …  Input collection [a, a] contains duplicates.
//   model        Value at 'Limit' failed to satisfy …      Input collection [a, a] contains duplicates.
//   bare         Value at 'Limit' failed to satisfy …      Input collection ["a", "a"] contains duplicates.
//   enveloped    Value at 'Limit' failed to satisfy …      1 validation error detected: Input collection
//                                                          ["a", …
//
// Each request has a frame. If the new front end cannot read a request, it hands the request over to the old
// one, which uses its own wording throughout and reports every error that it finds. This happens when a
// request lacks a required member (shape.h) or nests too deeply (newer_depth_max). Such a request has the
// frame `handed_over`, regardless of its operation.
//
// Source of these rules: responses recorded on AWS from August to October 2026; docs/differences.md compares
// them with older responses. In all frames, errors about a missing member, a pattern or an enum have the old
// wording, except for two enums (Shape::unnamed_values).
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "compat/wire/error.h"

namespace mayfly::compat {

// Each frame includes the changes of the frames before it.
enum class Frame : std::uint8_t { older, handed_over, model, bare, enveloped };

// How deeply arrays and objects of a request can nest on the new front end. Recorded on AWS: the new front
// end reads values of about 62 levels, with two arrays or objects per level, and hands over values of 63
// levels, in Key and ExpressionAttributeValues as well as in Expected. 127 is the depth limit of the common
// Rust JSON readers.
inline constexpr int newer_depth_max = 127;

// Returns the frame of a request whose arrays and objects nest `depth` levels deep.
constexpr Frame frame_at_depth(Frame of_operation, int depth) {
  return depth > newer_depth_max && of_operation > Frame::handed_over ? Frame::handed_over : of_operation;
}

// Whether an empty table name is reported as shorter than one character. Operations that have not moved
// report it as shorter than three, and also report that it does not match the pattern.
constexpr bool takes_one_character(Frame frame) { return frame >= Frame::handed_over; }

// Whether errors about lengths and ranges name members as the API model does and leave out the value.
constexpr bool names_by_model(Frame frame) { return frame >= Frame::model; }
// Whether errors in values and expressions have the newer wording.
constexpr bool has_newer_words(Frame frame) { return frame >= Frame::bare; }
// Returns the frame with the same wording but no envelope, for parts of a result that passes through in_frame
// as a whole later.
constexpr Frame inside(Frame frame) { return frame == Frame::enveloped ? Frame::bare : frame; }

// Returns the result of reading a request's values or expressions, with the frame's envelope around a
// validation error.
template <class T>
Result<T> in_frame(Frame frame, Result<T> read) {
  if (read || frame != Frame::enveloped || read.error().kind != Error::Kind::validation) return read;
  Error error = std::move(read).error();
  error.message = error::cut("1 validation error detected: " + error.message);
  return Unexpected{std::move(error)};
}

}  // namespace mayfly::compat
