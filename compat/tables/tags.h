// Tags, as CreateTable, TagResource and UntagResource take them.
//
// The API model's constraints on tags are told in words of their own, not in a list of validation errors;
// shapes leave them to this file. One bad tag spoils the whole request.
#pragma once

#include "compat/tables/settings.h"
#include "compat/wire/error.h"
#include "compat/wire/json.h"
#include "compat/wire/shape.h"

namespace mayfly::compat {

inline constexpr std::size_t tags_max = 50;

namespace shapes {
extern const Shape tags;      // [{"Key":…,"Value":…},…]
extern const Shape tag_keys;  // ["key",…]
}  // namespace shapes

// "The Tag Key provided is invalid, Key: …", "The Tag Value provided is invalid, Value: …", "Tag Key cannot
// be prefixed with aws:, Key: …", "Duplicate Tag Keys provided as input: …", and more than fifty.
Result<Tags> read_tags(const json::Value& list);
Result<void> check_tag_keys(const json::Value& list);

// ValidationException "Number of Tags exceed the current limit for the provided ResourceArn"
Unexpected<Error> too_many_tags();

}  // namespace mayfly::compat
