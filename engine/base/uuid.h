// Returns a random version 4 UUID, for example "3b241101-e2bb-4255-8caf-4136c566a962".
#pragma once

#include <string>

#include "engine/base/random.h"

namespace mayfly::engine {

std::string random_uuid(Random& random);

}  // namespace mayfly::engine
