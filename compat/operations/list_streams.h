// ListStreams: see list_streams.cc.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {

extern const Operation list_streams;

}  // namespace mayfly::compat::operations
