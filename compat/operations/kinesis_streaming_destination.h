#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {
extern const Operation describe_kinesis_streaming_destination;
extern const Operation disable_kinesis_streaming_destination;
extern const Operation enable_kinesis_streaming_destination;
extern const Operation update_kinesis_streaming_destination;
}  // namespace mayfly::compat::operations
