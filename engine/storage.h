// Ordered bytes, in memory or in a directory: the only file that knows RocksDB.
//
// Guarantees: a Batch is written whole or not at all; a Snapshot and an Iterator see one instant. In a
// directory, a write that returned survives the process's end, and with `fsync` the machine's; a directory
// that lost such a write otherwise is not opened (write_ahead_log.h). Whatever RocksDB reports is counted,
// reported and thrown as StorageFault. After a write that failed for want of space or descriptors, later
// writes throw at once, until storage has recovered, which it tries once a second on a thread of its own.
// Reads do not wait for that, and closing ends it. In memory, what was erased is
// given back to the host within seconds of quiet. Thread-safe; Batch, Iterator and Snapshot are one thread's.
//
// RocksDB keeps erased keys until a compaction drops them, and an iterator steps over each: a queue, whose
// reads begin where its items were erased, would cost more with every item. So a step of an iterator that
// passes more than `dead_keys_max` of them has their range compacted, in the background and for at most a
// tenth of the time.
//
//   Batch batch;
//   batch.put("k", "v");
//   storage->write(batch);
//
// The keys are drawn in key_space.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/expected.h"
#include "engine/scheduler.h"
#include "engine/storage_fault.h"

namespace rocksdb {
class Env;
}

namespace mayfly::engine {

struct StorageOptions {
  std::string directory;  // empty: in memory
  bool fsync = false;
  // Is told in a sentence that storage fails, and when that has passed, on the thread that it happens to; at
  // most once a second.
  std::function<void(std::string_view)> report;
  MakeScheduler make_scheduler = make_thread_scheduler;  // of what storage does by itself
  rocksdb::Env* env = nullptr;                           // files and memory; nullptr: the host's
  std::uint64_t memory_bytes_max = 0;  // in memory: has_room(); 0: half of what the process may have
  // In memory: nothing else uses the process, so has_room() counts all memory that it has.
  bool is_process = false;
  // For tests: asked before every write; true makes that write fail as a full disk would.
  std::function<bool()> write_fails;
  // For tests: asked before a file of the directory is made, appended to or synced; true makes that fail.
  std::function<bool(std::string_view path)> file_fails;
};

// Writes to be made together, in order. Flat bytes, so that batches can be joined and read again:
//
//   batch := (kind:u8 first_length:u32le second_length:u32le first second)*
class Batch {
 public:
  enum class Kind : std::uint8_t { put, erase, erase_range };

  void put(std::string_view key, std::string_view value) { append(Kind::put, key, value); }
  // A value in two pieces.
  void put(std::string_view key, std::string_view head, std::string_view rest) {
    append(Kind::put, key, head, rest);
  }
  // Lets about so many entries, of so many bytes together, be put without a pause to grow.
  void make_room(std::size_t entries, std::size_t bytes) {
    bytes_.reserve(bytes_.size() + entries * entry_head_bytes + bytes);
  }
  // `value_bytes`: how large its value is, if that is known.
  void erase(std::string_view key, std::uint64_t value_bytes = 0) {
    append(Kind::erase, key, {});
    erased_bytes_ += erased_bytes_of_key + value_bytes;
  }
  // What was put has a predecessor whose value was so large.
  void note_replaced(std::uint64_t value_bytes) { erased_bytes_ += replaced_bytes_of_key + value_bytes; }
  // Everything in [begin, end). Requires: `begin` is no expiry entry's key, or writing it is a fault.
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
  // About how many bytes in storage the batch makes useless, not counting ranges.
  [[nodiscard]] std::uint64_t erased_bytes() const { return erased_bytes_; }

  // visit(kind, first, second) for each, in order.
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
  // Two of RocksDB's entries: what was put, and its erasure.
  static constexpr std::uint64_t erased_bytes_of_key = 150;
  static constexpr std::uint64_t replaced_bytes_of_key = 75;  // one

  static constexpr std::size_t entry_head_bytes = 1 + 4 + 4;

  void append(Kind kind, std::string_view first, std::string_view second, std::string_view rest = {});
  static Kind take(std::string_view& rest, std::string_view& first, std::string_view& second);

  std::string bytes_;
  std::uint64_t erased_bytes_ = 0;
};

// Keeps every other process, and everybody else in this one, from opening a directory.
class DirectoryLock {
 public:
  // The error is a sentence for people: somebody has it open.
  static Expected<DirectoryLock, std::string> take(const std::string& directory);
  ~DirectoryLock();
  DirectoryLock(DirectoryLock&& other) noexcept : lock_(std::exchange(other.lock_, nullptr)) {}
  DirectoryLock& operator=(DirectoryLock&&) = delete;

 private:
  explicit DirectoryLock(void* lock) : lock_(lock) {}
  void* lock_;  // RocksDB's
};

class Storage {
 public:
  static constexpr std::uint64_t dead_keys_max = 1000;

  // The error is a sentence for people.
  static Expected<std::unique_ptr<Storage>, std::string> open(StorageOptions options);
  // A directory that is only looked at, whatever its files hold: nothing in it changes, not a torn log
  // either, and every write is a fault. What a log has from its first damage on is not seen.
  // Requires: the caller has its DirectoryLock.
  struct OpenFailure {
    std::string sentence;
    bool damaged;  // else it could not be looked at
  };
  static Expected<std::unique_ptr<Storage>, OpenFailure> open_to_read(const std::string& directory);

  // Why one of RocksDB's table files cannot be read to its end with every checksum right; empty: it can.
  static std::string table_file_flaw(const std::string& path);
  // Makes a directory that cannot be opened one that can, of the files that are in it.
  // Requires: nobody has it open.
  static Expected<void, std::string> put_together(const std::string& directory);

  // Whether it has a key that each database of ours has from its first opening or its first table on.
  [[nodiscard]] bool has_our_keys() const;
  // Paths of the table files that hold what is there, in a directory.
  [[nodiscard]] std::vector<std::string> table_files() const;
  // About how many keys there are.
  [[nodiscard]] std::uint64_t key_count_estimate() const;
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  [[nodiscard]] bool durable() const { return !options_.directory.empty(); }
  [[nodiscard]] bool syncs() const { return durable() && options_.fsync; }

  void write(const Batch& batch);

  // Why nothing can be written at present, for people; empty: it can.
  [[nodiscard]] std::string failure() const;
  [[nodiscard]] std::uint64_t faults() const;  // that were thrown, ever

  // What RocksDB holds: buffers, cache, indexes of its files and, in memory, the files themselves, also those
  // that a compaction is writing. And what was added by hold().
  [[nodiscard]] std::uint64_t footprint_bytes() const;
  // Adds `bytes`, which may be negative, to the memory outside RocksDB that counts in the footprint.
  void hold(std::int64_t bytes) const;
  // Does so for as long as it lives. It may outlive the storage.
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
    const std::shared_ptr<std::atomic<std::int64_t>> all_;  // that the storage counts
    std::uint64_t bytes_ = 0;
  };
  // In memory: whether the footprint (or all memory of the process, see StorageOptions::is_process) was less
  // than the limit after the last megabyte was written. Writes do not check this, because erasing must remain
  // possible: a caller that adds something does.
  [[nodiscard]] bool has_room() const;
  [[nodiscard]] std::uint64_t memory_bytes_max() const;

  // Puts erasing everything in [begin, end) into the batch. Few keys are erased one by one: RocksDB's range
  // tombstones cost every later read a little, until they are compacted away.
  void erase_range(Batch& batch, std::string_view begin, std::string_view end) const;
  // The same of every key that begins with the prefix.
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

  // False: there is no such key, and `value` is undefined. Without a snapshot: as it is now.
  [[nodiscard]] bool get(std::string_view key, std::string& value, const Snapshot* snapshot = nullptr) const;

  // Walks [lower, upper) as it was at the snapshot, or when the iterator was made. It stands nowhere until a
  // seek.
  class Iterator {
   public:
    Iterator(const Storage& storage, std::string_view lower, std::string_view upper,
             const Snapshot* snapshot = nullptr);
    ~Iterator();
    Iterator(Iterator&&) noexcept;
    Iterator& operator=(Iterator&&) noexcept;

    void seek_to_first();
    void seek_to_last();
    void seek(std::string_view key);  // to the first at or after `key`
    // For tests: how many erased keys its steps have passed.
    [[nodiscard]] std::uint64_t dead_keys_passed() const;
    void next();
    void prev();
    [[nodiscard]] bool valid() const;            // throws if the walk ended in a fault
    [[nodiscard]] std::string_view key() const;  // until the next move
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
