// Reads the tags of CreateTable, TagResource and UntagResource.
//
// AWS reports violations of the API model's constraints on tags with special messages instead of the usual
// list of validation errors, so the shapes leave these constraints to this file. One invalid tag causes the
// whole request to be rejected.
#pragma once

#include "compat/json/json.h"
#include "compat/settings/settings.h"
#include "compat/wire/error.h"
#include "compat/wire/shape.h"

namespace mayfly::compat {

inline constexpr std::size_t tags_max = 50;

namespace shapes {
extern const Shape tags;      // [{"Key":…,"Value":…},…]
extern const Shape tag_keys;  // ["key",…]
}  // namespace shapes

// Errors: "The Tag Key provided is invalid, Key: …", "The Tag Value provided is invalid, Value: …", "Tag Key
// cannot be prefixed with aws:, Key: …", "Duplicate Tag Keys provided as input: …", and an error for more
// than 50 tags.
Result<Tags> read_tags(const json::Value& list);
Result<void> check_tag_keys(const json::Value& list);

// ValidationException "Number of Tags exceed the current limit for the provided ResourceArn"
Unexpected<Error> too_many_tags();

}  // namespace mayfly::compat
