#include "engine/background/history_size.h"

#include <algorithm>

#include "engine/storage/storage.h"
#include "engine/tables/catalog.h"
#include "engine/tables/points.h"

namespace mayfly::engine {

Instant earliest_of(const Recovery& recovery, Instant now) {
  return std::max({recovery.since, recovery.given_up, now - recovery.days * day_ms});
}

HistorySize::Footprint HistorySize::footprint() const {
  const VersionCount left = points_.left();
  Footprint total{left.versions, left.bytes};
  for (const auto& table : catalog_.tables()) {
    const VersionCount count = table->version_count();
    total.versions += count.versions;
    total.bytes += count.bytes;
  }
  return total;
}

std::uint64_t HistorySize::bytes_max() const {
  return storage_.durable() ? asked_ : std::min(asked_, storage_.memory_bytes_max() / 4);
}

}  // namespace mayfly::engine
