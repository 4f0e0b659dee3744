// UpdateContinuousBackups, DescribeContinuousBackups: the setting of point-in-time recovery.
//
// It is held and described (Terraform asks for it at every read); nothing can be restored from it yet.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {
extern const Operation update_continuous_backups;
extern const Operation describe_continuous_backups;
}  // namespace mayfly::compat::operations
