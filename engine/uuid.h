// Random names that nobody else has: "3b241101-e2bb-4255-8caf-4136c566a962", version 4.
#pragma once

#include <string>

namespace mayfly::engine {

std::string random_uuid();

}  // namespace mayfly::engine
