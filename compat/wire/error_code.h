// The short names of errors, which batches and transactions give each of their statements and actions.
//
//   error_code(error)   "ConditionalCheckFailed", "DuplicateItem", "ResourceNotFound", "ValidationError"
#pragma once

#include <string>

#include "compat/wire/error.h"

namespace mayfly::compat {

std::string error_code(const Error& error);

}  // namespace mayfly::compat
