// Whether storage works, and how much memory it uses. The layers above the engine see only this part of
// storage (storage.h).
#pragma once

#include <cstdint>
#include <string>

namespace mayfly::engine {

class StorageHealth {
 public:
  // Whether each commit waits for the disk.
  [[nodiscard]] virtual bool syncs() const = 0;
  // The human-readable reason why writes currently fail; empty if writes succeed.
  [[nodiscard]] virtual std::string failure() const = 0;
  [[nodiscard]] virtual std::uint64_t faults() const = 0;  // the number of StorageFaults thrown so far
  // The memory that RocksDB holds: buffers, cache, indexes of its files and, for in-memory storage, the files
  // themselves, including those that a compaction is writing. It also includes the memory that the engine
  // holds outside RocksDB for tables and snapshots.
  [[nodiscard]] virtual std::uint64_t footprint_bytes() const = 0;
  // For in-memory storage: whether the footprint (or all memory of the process, see
  // StorageOptions::is_process) was below the limit after the last megabyte was written. Storage writes
  // batches even if it has no room, because erasing must remain possible. Callers that add data check
  // has_room() first.
  [[nodiscard]] virtual bool has_room() const = 0;
  [[nodiscard]] virtual std::uint64_t memory_bytes_max() const = 0;

 protected:
  ~StorageHealth() = default;
};

}  // namespace mayfly::engine
