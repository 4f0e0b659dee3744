// An ordered map from byte strings to byte strings, in memory or in a directory. This is the only interface
// to RocksDB.
//
// Guarantees:
// - A Batch is written completely or not at all.
// - A Snapshot and an Iterator see the state of one instant.
// - In a directory, a write that has returned survives a crash of the process and, with `fsync`, of the
//   machine. A directory that has lost such a write for another reason is not opened (write_ahead_log.h).
// - In-memory storage returns the memory of erased data to the host within seconds after writes stop.
//
// Errors: each error that RocksDB reports is counted, reported and thrown as StorageFault. After a write
// fails for lack of space or file descriptors, later writes throw immediately until storage has recovered.
// Storage tries to recover once a second, on a background thread. Reads do not wait for a recovery, and
// closing the storage ends the recovery.
//
// Thread-safe. A Batch, an Iterator or a Snapshot may be used by only one thread at a time.
//
// RocksDB keeps erased keys until a compaction drops them, and an iterator steps over each of them. If a
// table is used as a queue, each read begins where items were erased, so reads would become slower with every
// erased item. Therefore, when one step of an iterator passes more than `dead_keys_max` erased keys, their
// range is compacted in the background. Such compactions take at most a tenth of the time.
//
//   Batch batch;
//   batch.put("k", "v");
//   storage->write(batch);
//
// key_space.h documents the layout of the keys.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/expected.h"
#include "engine/base/scheduler.h"
#include "engine/base/storage_fault.h"
#include "engine/storage/storage_health.h"

namespace rocksdb {
class Env;
}

namespace mayfly::engine {

struct StorageOptions {
  std::string directory;  // empty: data is in memory
  bool fsync = false;
  // Receives a sentence when storage starts to fail, when it recovers, and at most once a second while
  // operations fail. It is called on the thread that notices the failure or the recovery.
  std::function<void(std::string_view)> report;
  MakeScheduler make_scheduler = make_thread_scheduler;  // for background work
  rocksdb::Env* env = nullptr;                           // provides files and memory; nullptr: the host's
  std::uint64_t memory_bytes_max = 0;  // limit for in-memory storage; 0: half of os::process_memory_bytes()
  // For in-memory storage. True if the process does nothing but serve this storage; has_room() then counts
  // all memory of the process.
  bool is_process = false;
  // For tests: called before every write. If it returns true, the write fails as on a full disk.
  std::function<bool()> write_fails;
  // For tests: called before a file of the directory is created, appended to or synced. If it returns true,
  // that operation fails.
  std::function<bool(std::string_view path)> file_fails;
};

// A list of writes that are applied together, in order. It is stored as flat bytes, so that batches can be
// joined and read again:
//
//   batch := (kind:u8 first_length:u32le second_length:u32le first second)*
class Batch {
 public:
  enum class Kind : std::uint8_t { put, erase, erase_range };

  void put(std::string_view key, std::string_view value) { append(Kind::put, key, value); }
  // The value is `head` followed by `rest`.
  void put(std::string_view key, std::string_view head, std::string_view rest) {
    append(Kind::put, key, head, rest);
  }
  // Reserves memory for about `entries` entries with `bytes` bytes in total.
  void make_room(std::size_t entries, std::size_t bytes) {
    bytes_.reserve(bytes_.size() + entries * entry_head_bytes + bytes);
  }
  // `value_bytes` is the size of the erased value, or 0 if it is unknown.
  void erase(std::string_view key, std::uint64_t value_bytes = 0) {
    append(Kind::erase, key, {});
    erased_bytes_ += erased_bytes_of_key + value_bytes;
  }
  // Notes that a put in this batch replaces a value of `value_bytes` bytes.
  void note_replaced(std::uint64_t value_bytes) { erased_bytes_ += replaced_bytes_of_key + value_bytes; }
  // Erases all keys in [begin, end).
  // Requires: `begin` is not the key of an expiry entry. Otherwise, writing the batch throws StorageFault.
  void erase_range(std::string_view begin, std::string_view end) { append(Kind::erase_range, begin, end); }
  void append(const Batch& other) {
    bytes_.append(other.bytes_);
    erased_bytes_ += other.erased_bytes_;
  }
  void clear() {
    bytes_.clear();
    erased_bytes_ = 0;
  }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  // An estimate of the bytes in storage that the batch turns into garbage, not counting erased ranges.
  [[nodiscard]] std::uint64_t erased_bytes() const { return erased_bytes_; }

  // Calls visit(kind, first, second) for each entry, in order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    std::string_view rest = bytes_;
    while (!rest.empty()) {
      std::string_view first, second;
      const Kind kind = take(rest, first, second);
      visit(kind, first, second);
    }
  }

 private:
  // The size of two RocksDB entries: the put and the erasure.
  static constexpr std::uint64_t erased_bytes_of_key = 150;
  static constexpr std::uint64_t replaced_bytes_of_key = 75;  // the size of one RocksDB entry

  static constexpr std::size_t entry_head_bytes = 1 + 4 + 4;

  void append(Kind kind, std::string_view first, std::string_view second, std::string_view rest = {});
  static Kind take(std::string_view& rest, std::string_view& first, std::string_view& second);

  std::string bytes_;
  std::uint64_t erased_bytes_ = 0;
};

// Keeps other processes, and other code in this process, from opening a directory.
class DirectoryLock {
 public:
  // The error is a human-readable sentence, for example that another process has the directory open.
  static Expected<DirectoryLock, std::string> take(const std::string& directory);
  ~DirectoryLock();
  DirectoryLock(DirectoryLock&& other) noexcept : lock_(std::exchange(other.lock_, nullptr)) {}
  DirectoryLock& operator=(DirectoryLock&&) = delete;

 private:
  explicit DirectoryLock(void* lock) : lock_(lock) {}
  void* lock_;  // RocksDB's FileLock
};

class Storage final : public StorageHealth {
 public:
  static constexpr std::uint64_t dead_keys_max = 1000;

  // The error is a human-readable sentence.
  static Expected<std::unique_ptr<Storage>, std::string> open(StorageOptions options);
  // Opens a directory read-only, even if files are damaged. Nothing in the directory changes, not even a torn
  // log, and every write throws StorageFault. The contents of a log after its first damage are ignored.
  // Requires: the caller holds the directory's DirectoryLock.
  struct OpenFailure {
    std::string sentence;
    bool damaged;  // false: the directory could not be read
  };
  static Expected<std::unique_ptr<Storage>, OpenFailure> open_to_read(const std::string& directory);

  // Reads a RocksDB table file to its end and verifies all checksums. Returns the error, or an empty string
  // if the file is intact.
  static std::string table_file_flaw(const std::string& path);
  // Rebuilds a directory that cannot be opened, so that it can be opened again. Uses the files in the
  // directory.
  // Requires: no process has the directory open.
  static Expected<void, std::string> put_together(const std::string& directory);

  // Whether storage has a key that identifies it as a Mayfly database.
  [[nodiscard]] bool has_our_keys() const;
  // The paths of the live table files of a directory.
  [[nodiscard]] std::vector<std::string> table_files() const;
  // The approximate number of keys.
  [[nodiscard]] std::uint64_t key_count_estimate() const;
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  [[nodiscard]] bool durable() const { return !options_.directory.empty(); }
  [[nodiscard]] bool syncs() const override { return durable() && options_.fsync; }

  void write(const Batch& batch);

  [[nodiscard]] std::string failure() const override;
  [[nodiscard]] std::uint64_t faults() const override;
  [[nodiscard]] std::uint64_t footprint_bytes() const override;  // includes the bytes that hold() has added
  // Adds `bytes`, which may be negative, to the memory outside RocksDB that counts in the footprint.
  void hold(std::int64_t bytes) const;
  // Adds bytes to the memory that counts in the footprint, during this object's lifetime. The object may
  // outlive the storage.
  class Holding {
   public:
    Holding(const Storage& storage, std::uint64_t bytes);
    ~Holding() { set(0); }
    Holding(const Holding&) = delete;
    Holding& operator=(const Holding&) = delete;

    void set(std::uint64_t bytes) {
      *all_ += static_cast<std::int64_t>(bytes) - static_cast<std::int64_t>(bytes_);
      bytes_ = bytes;
    }

   private:
    const std::shared_ptr<std::atomic<std::int64_t>> all_;  // the storage's total
    std::uint64_t bytes_ = 0;
  };
  [[nodiscard]] bool has_room() const override;
  [[nodiscard]] std::uint64_t memory_bytes_max() const override;

  // Adds the erasure of all keys in [begin, end) to the batch. If there are few keys, they are erased one by
  // one, because a RocksDB range tombstone slows down every later read a little until it is compacted away.
  void erase_range(Batch& batch, std::string_view begin, std::string_view end) const;
  // Does the same for all keys that begin with the prefix.
  void erase_prefix(Batch& batch, std::string_view prefix) const;

  class Snapshot {
   public:
    explicit Snapshot(const Storage& storage);
    ~Snapshot();
    Snapshot(const Snapshot&) = delete;
    Snapshot& operator=(const Snapshot&) = delete;

   private:
    friend class Storage;
    const Storage& storage_;
    const void* snapshot_;
  };

  // Returns false if the key does not exist; `value` is then undefined. Without a snapshot, reads the latest
  // state.
  [[nodiscard]] bool get(std::string_view key, std::string& value, const Snapshot* snapshot = nullptr) const;

  // Walks [lower, upper) as of the snapshot or, without one, as of the iterator's creation. The iterator has
  // no position until the first seek.
  class Iterator {
   public:
    Iterator(const Storage& storage, std::string_view lower, std::string_view upper,
             const Snapshot* snapshot = nullptr);
    ~Iterator();
    Iterator(Iterator&&) noexcept;
    Iterator& operator=(Iterator&&) noexcept;

    void seek_to_first();
    void seek_to_last();
    void seek(std::string_view key);  // moves to the first key at or after `key`
    // For tests: the number of erased keys that the iterator has passed.
    [[nodiscard]] std::uint64_t dead_keys_passed() const;
    void next();
    void prev();
    [[nodiscard]] bool valid() const;            // throws StorageFault if a read error ended the walk
    [[nodiscard]] std::string_view key() const;  // valid until the next move
    [[nodiscard]] std::string_view value() const;

   private:
    struct State;
    std::unique_ptr<State> state_;
  };

 private:
  struct Engine;
  Storage(StorageOptions options, std::unique_ptr<Engine> engine);

  const StorageOptions options_;
  const std::unique_ptr<Engine> engine_;
};

}  // namespace mayfly::engine
