// Shapes that imports and bulk puts share: buckets, tokens, compression.
#pragma once

#include "compat/wire/shape.h"

namespace mayfly::compat::shapes {

inline constexpr Shape client_token = string_shape({}, {}, client_token_pattern);
inline constexpr Shape bucket_name = string_shape({}, 255, bucket_name_pattern);
inline constexpr Shape bucket_owner = string_shape({}, {}, account_pattern);
inline constexpr Shape key_prefix = string_shape({}, 1024);
inline constexpr std::string_view input_compression_values[] = {"ZSTD", "NONE", "GZIP"};
inline constexpr Shape input_compression = enum_shape(input_compression_values);

}  // namespace mayfly::compat::shapes
