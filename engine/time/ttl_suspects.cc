#include "engine/time/ttl_suspects.h"

#include <utility>

namespace mayfly::engine {

bool TtlSuspects::note(TtlSuspect suspect) {
  const std::optional<NeverReason> never = suspect.never;
  const Lock lock(mutex_);
  std::erase_if(kept_, [&](const Kept& other) { return other.suspect.key == suspect.key; });
  kept_.push_back({std::move(suspect)});
  if (kept_.size() > kept_max) kept_.pop_front();
  return never && !std::exchange(noted_[never_place(*never)], true);
}

std::vector<TtlSuspect> TtlSuspects::latest() const {
  const Lock lock(mutex_);
  std::vector<TtlSuspect> suspects;
  for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept) suspects.push_back(kept->suspect);
  return suspects;
}

std::vector<Item> TtlSuspects::take_born_due() {
  const Lock lock(mutex_);
  std::vector<Item> keys;
  for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept)
    if (!kept->suspect.never && !std::exchange(kept->is_taken, true))
      keys.push_back(kept->suspect.key_attributes);
  return keys;
}

}  // namespace mayfly::engine
