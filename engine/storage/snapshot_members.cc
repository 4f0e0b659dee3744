#include "engine/storage/snapshot_members.h"

#include <algorithm>
#include <cstdint>

#include "engine/base/byte_order.h"

namespace mayfly::engine {
namespace {

// The number of ids of tables, streams or points per block. With larger blocks, a change copies more bytes;
// with smaller blocks, each snapshot holds more pointers.
constexpr std::uint32_t ids_per_block = 64;

// The size of an empty block: the object, its control block and the overhead of its allocations.
constexpr std::uint64_t block_bytes = 96;

// Returns the group of a member. All members of a group are in one block. Each document has a separate group.
std::string group_of(char kind, std::string_view name) {
  std::string group(1, kind);
  if (kind == 'E' || name.size() < sizeof(std::uint32_t)) return group.append(name);
  append_big_endian(group, read_big_endian<std::uint32_t>(name) / ids_per_block);
  return group;
}

}  // namespace

struct SnapshotMembers::Block {
  Block(const Storage& storage, const Batch& of)
      : members(of), held(storage, block_bytes + members.bytes().size()) {}

  const Batch members;
  const Storage::Holding held;
};

SnapshotMembers::SnapshotMembers(const Storage& storage, Blocks blocks)
    : blocks_(std::move(blocks)), held_(storage, block_bytes + blocks_.size() * sizeof(blocks_.front())) {}

void SnapshotMembers::each(char kind, const Visit& visit) const {
  for (const auto& [group, block] : blocks_) {
    if (group.front() != kind) continue;
    block->members.for_each(
        [&](Batch::Kind, std::string_view name, std::string_view value) { visit(name, value); });
  }
}

std::shared_ptr<const SnapshotMembers::Block> SnapshotMembers::find(std::string_view group) const {
  const auto at =
      std::lower_bound(blocks_.begin(), blocks_.end(), group,
                       [](const auto& block, std::string_view other) { return block.first < other; });
  return at != blocks_.end() && at->first == group ? at->second : nullptr;
}

void SnapshotMembers::Builder::add(char kind, std::string_view name, std::string_view value) {
  groups_[group_of(kind, name)].put(name, value);
}

std::shared_ptr<const SnapshotMembers> SnapshotMembers::Builder::build(
    const Storage& storage, const std::shared_ptr<const SnapshotMembers>& before) const {
  Blocks blocks;
  blocks.reserve(groups_.size());
  bool same = before && before->blocks_.size() == groups_.size();
  for (const auto& [group, members] : groups_) {
    auto block = before ? before->find(group) : nullptr;
    if (!block || block->members.bytes() != members.bytes()) {
      block = std::make_shared<Block>(storage, members);
      same = false;
    }
    blocks.emplace_back(group, std::move(block));
  }
  if (same) return before;
  return std::shared_ptr<const SnapshotMembers>(new SnapshotMembers(storage, std::move(blocks)));
}

}  // namespace mayfly::engine
