// Streams as the triggers read them: shard by shard, parents before children.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/change_log.h"
#include "engine/table.h"

namespace mayfly::compat::triggers {

struct ShardView {
  std::uint32_t number = 0;
  std::string id;
  std::vector<std::uint32_t> parents;  // read to their end before this one begins
  engine::Sequence oldest = 0;         // first record that is not trimmed
  bool closed = false;
};

std::vector<ShardView> shards_of(const engine::Stream& stream);

}  // namespace mayfly::compat::triggers
