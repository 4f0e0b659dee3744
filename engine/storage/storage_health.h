// Whether storage works, and how much memory it uses. This is all that the floors above the engine see of
// storage (storage.h).
#pragma once

#include <cstdint>
#include <string>

namespace mayfly::engine {

class StorageHealth {
 public:
  // Whether each commit waits for the disk.
  [[nodiscard]] virtual bool syncs() const = 0;
  // A human-readable reason why writes currently fail; empty if they do not.
  [[nodiscard]] virtual std::string failure() const = 0;
  [[nodiscard]] virtual std::uint64_t faults() const = 0;  // the number of StorageFaults thrown so far
  // Memory that RocksDB holds: buffers, cache, indexes of its files and, in memory, the files themselves,
  // including those that a compaction is writing. Also includes what the engine holds outside RocksDB for
  // tables and snapshots.
  [[nodiscard]] virtual std::uint64_t footprint_bytes() const = 0;
  // In memory: whether the footprint (or all memory of the process, see StorageOptions::is_process) was below
  // the limit after the last megabyte was written. Writes do not check this, because erasing must remain
  // possible. A caller that adds data checks it.
  [[nodiscard]] virtual bool has_room() const = 0;
  [[nodiscard]] virtual std::uint64_t memory_bytes_max() const = 0;

 protected:
  ~StorageHealth() = default;
};

}  // namespace mayfly::engine
