// Rules and shapes that the operations on streams share.
#pragma once

#include <string_view>

#include "compat/context.h"
#include "compat/wire/error.h"
#include "compat/wire/shape.h"
#include "engine/schema/table.h"

namespace mayfly::compat {

namespace shapes {
// The API model requires at least 37 characters, but AWS returns "Invalid StreamArn" for shorter ARNs too.
inline constexpr Shape stream_arn = string_shape({}, 1024);
inline constexpr Shape shard_id = string_shape(28, 65);
}  // namespace shapes

// A malformed ARN is a ValidationException "Invalid StreamArn". An ARN of another account or region, or of a
// stream that was removed, is a ResourceNotFoundException "Requested resource not found: Stream: arn… not
// found".
Result<engine::Stream> find_stream(const Context& context, std::string_view arn);

}  // namespace mayfly::compat
