// The number of keys of each kind that a verification has checked.
#pragma once

#include <cstdint>

namespace mayfly::engine {

struct Checked {
  std::uint64_t tables = 0, items = 0, index_entries = 0, expiry_entries = 0, streams = 0, records = 0,
                snapshots = 0, images = 0, tokens = 0, documents = 0, versions = 0, points = 0;
};

}  // namespace mayfly::engine
