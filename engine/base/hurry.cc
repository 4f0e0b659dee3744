#include "engine/base/hurry.h"

namespace mayfly::engine {

void Hurry::give_way() {
  end();
  throw NotNow{NotNow::Because::it_waits};
}

void Hurry::spent() {
  const bool was_on = is_on_;
  end();
  if (was_on) throw NotNow{NotNow::Because::it_works};
}

}  // namespace mayfly::engine
