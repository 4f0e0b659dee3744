// PutItem: a whole item takes its key's place.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {

extern const Operation put_item;

}  // namespace mayfly::compat::operations
