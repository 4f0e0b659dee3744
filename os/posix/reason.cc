#include "os/reason.h"

namespace mayfly::os {

std::string reason(const std::error_code& error) { return error.message(); }

}  // namespace mayfly::os
