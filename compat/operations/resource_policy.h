// PutResourcePolicy, GetResourcePolicy, DeleteResourcePolicy: of a table, or of its stream.
//
// Policies are held, revised and returned (Terraform and controllers ask for them); nobody is refused by one.
#pragma once

#include "compat/dispatch.h"

namespace mayfly::compat::operations {
extern const Operation put_resource_policy;
extern const Operation get_resource_policy;
extern const Operation delete_resource_policy;
}  // namespace mayfly::compat::operations
