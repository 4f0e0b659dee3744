#include "engine/time/ttl_suspects.h"

#include <utility>

namespace mayfly::engine {

bool TtlSuspects::note(TtlSuspect suspect) {
  const std::optional<NeverReason> never = suspect.never;
  const Lock lock(mutex_);
  std::erase_if(kept_, [&](const TtlSuspect& other) { return other.key == suspect.key; });
  kept_.push_back(std::move(suspect));
  if (kept_.size() > kept_max) kept_.pop_front();
  return never && !std::exchange(noted_[never_place(*never)], true);
}

std::vector<TtlSuspect> TtlSuspects::latest() const {
  const Lock lock(mutex_);
  return {kept_.rbegin(), kept_.rend()};
}

}  // namespace mayfly::engine
