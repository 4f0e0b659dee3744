#include "engine/storage/storage.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/slice.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>
#include <shared_mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "engine/base/clock.h"
#include "engine/base/interleaving.h"
#include "engine/base/mutex.h"
#include "engine/base/thread_local.h"
#include "engine/storage/data_directory.h"
#include "engine/storage/key_space.h"
#include "engine/storage/storage_files.h"
#include "engine/storage/storage_jobs.h"
#include "engine/storage/write_ahead_log.h"
#include "engine/values/key_codec.h"
#include "os/file.h"
#include "os/memory.h"
#include "os/path.h"

namespace mayfly::engine {
namespace {

rocksdb::Slice slice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

class NoLog final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

// An Env that uses the given file system and schedules its jobs through StorageJobs. `base` provides threads
// and the time.
class EnvWithFiles final : public rocksdb::EnvWrapper {
 public:
  EnvWithFiles(rocksdb::Env& base, const std::shared_ptr<rocksdb::FileSystem>& files,
               std::shared_ptr<StorageJobs> jobs)
      : EnvWrapper(rocksdb::NewCompositeEnv(files)), base_(base), jobs_(std::move(jobs)) {
    file_system_ = files;
    system_clock_ = base.GetSystemClock();
  }

  void Schedule(void (*run)(void*), void* argument, Priority priority, void* tag,
                void (*unscheduled)(void*)) override {
    jobs_->schedule(base_, run, argument, priority, tag, unscheduled);
  }
  int UnSchedule(void* tag, Priority priority) override { return base_.UnSchedule(tag, priority); }
  void StartThread(void (*run)(void*), void* argument) override { base_.StartThread(run, argument); }
  void WaitForJoin() override { base_.WaitForJoin(); }
  unsigned int GetThreadPoolQueueLen(Priority priority) const override {
    return base_.GetThreadPoolQueueLen(priority);
  }
  void SetBackgroundThreads(int number, Priority priority) override {
    base_.SetBackgroundThreads(number, priority);
  }
  int GetBackgroundThreads(Priority priority) override { return base_.GetBackgroundThreads(priority); }
  void IncBackgroundThreadsIfNeeded(int number, Priority priority) override {
    base_.IncBackgroundThreadsIfNeeded(number, priority);
  }

 private:
  rocksdb::Env& base_;
  const std::shared_ptr<StorageJobs> jobs_;
};

// Expiry entries of a table, and change records of a shard, are mostly written and erased in key order. With
// this extractor, RocksDB searches for the position of such a key from the position of the previous key, not
// from the beginning. A clock jump over 100,000 items that expire at one instant takes a quarter less time.
// For items, which are ordered by hash, this search would be slower.
//
// For an erased range, RocksDB would take the position from the wrong list (MemTable::Add). So no erased
// range may begin with such a key, and no log with such a range may be replayed. Therefore, only in-memory
// storage uses this extractor.
class WrittenInOrder final : public rocksdb::SliceTransform {
 public:
  static bool has(std::string_view key) {
    return (key.starts_with('S') && key.size() == record_key_bytes) ||
           (key.starts_with('X') && key.size() > table_prefix_bytes);
  }
  const char* Name() const override { return "mayfly.written_in_order"; }
  bool InDomain(const rocksdb::Slice& key) const override { return has(key.ToStringView()); }
  rocksdb::Slice Transform(const rocksdb::Slice& key) const override {
    return {key.data(), key[0] == 'X' ? table_prefix_bytes : shard_prefix_bytes};
  }
};

rocksdb::Status erase_range_in(rocksdb::WriteBatch& batch, std::string_view begin, std::string_view end) {
  if (!WrittenInOrder::has(begin)) return batch.DeleteRange(slice(begin), slice(end));
  const std::string behind = std::string(begin) + '\0';
  if (WrittenInOrder::has(behind)) return rocksdb::Status::NotSupported("a range from an expiry entry on");
  const rocksdb::Status erased = batch.Delete(slice(begin));
  return erased.ok() ? batch.DeleteRange(slice(behind), slice(end)) : erased;
}

// Options for both kinds of storage: memory is allocated only when it is used, and there is no unnecessary
// background work.
rocksdb::Options common_options() {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.info_log = std::make_shared<NoLog>();
  options.compression = rocksdb::kNoCompression;
  options.bottommost_compression = rocksdb::kNoCompression;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.skip_stats_update_on_db_open = true;
  options.skip_checking_sst_file_sizes_on_db_open = true;
  options.max_background_jobs = 2;
  options.max_file_opening_threads = 1;
  options.arena_block_size = 64 << 10;
  options.allow_concurrent_memtable_write = false;  // there is only one committer
  options.enable_write_thread_adaptive_yield = false;
  options.delayed_write_rate = 0;
  options.avoid_flush_during_shutdown = true;  // the logs contain all data, or storage is in memory
  options.fail_if_options_file_error = false;  // see without_options_files()
  options.max_bgerror_resume_count = 0;  // the upkeep resumes RocksDB; RocksDB would start a thread for this
  return options;
}

// With a million items on disk, the filter and the hash index shorten a get from 7.3 to 3.4 us. In memory,
// they let a write of a new item skip the files, which the write would otherwise search for an old version of
// the item.
rocksdb::BlockBasedTableOptions table_options() {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  return table;
}

// In-memory storage keeps values of at least this size in separate files.
constexpr std::uint64_t large_value_bytes = 16 << 10;

// A compaction keeps its input until its output is complete. So the limits on the sizes of flushes and
// compactions depend on the memory limit: together, flushes and compactions need about a quarter of that
// limit in addition to the data. With a memory limit of 2 GB or more, the buffer has 32 MB, and the other
// sizes are RocksDB's defaults.
rocksdb::Options memory_options(rocksdb::Env* env, std::shared_ptr<rocksdb::Cache> block_cache,
                                std::uint64_t bytes_max) {
  constexpr std::uint64_t mb = 1 << 20;
  rocksdb::Options options = common_options();
  options.env = env;
  options.write_buffer_size = std::clamp(bytes_max / 32, mb, 32 * mb);
  options.target_file_size_base = std::clamp(bytes_max / 32, mb, 64 * mb);
  options.max_bytes_for_level_base = std::clamp(bytes_max / 8, 4 * mb, 256 * mb);
  options.max_compaction_bytes = std::clamp(bytes_max / 8, 4 * mb, 1600 * mb);
  options.memtable_insert_with_hint_prefix_extractor = std::make_shared<WrittenInOrder>();
  // Compactions move references to large values, not the values themselves. give_back() frees
  // overwritten values.
  options.enable_blob_files = true;
  options.min_blob_size = large_value_bytes;
  options.blob_file_size = std::clamp(bytes_max / 32, mb, 32 * mb);
  rocksdb::BlockBasedTableOptions table = table_options();
  table.block_cache = std::move(block_cache);
  table.checksum = rocksdb::kNoChecksum;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

rocksdb::Options disk_options() {
  rocksdb::Options options = common_options();
  options.write_buffer_size = 16 << 20;
  // Each recovery from a full disk creates a small file, and a compaction may lack the space to merge these
  // files for a long time.
  options.level0_slowdown_writes_trigger = 64;
  options.level0_stop_writes_trigger = 96;
  options.wal_recovery_mode =
      rocksdb::WALRecoveryMode::kAbsoluteConsistency;  // write_ahead_log.h repairs torn logs beforehand
  rocksdb::BlockBasedTableOptions table = table_options();
  table.block_cache = rocksdb::NewLRUCache(32 << 20, /*num_shard_bits=*/2);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

// Erasing at most this many keys one by one is cheaper than a range tombstone.
constexpr int single_erasures_max = 4096;

// While this object exists, its thread waits inside RocksDB for RocksDB's jobs, and an Interleaving does not
// let another thread run before this one.
class WaitingForJobs {
 public:
  WaitingForJobs() { interleave("waits for jobs"); }
  ~WaitingForJobs() { interleave("jobs done"); }
  WaitingForJobs(const WaitingForJobs&) = delete;
  WaitingForJobs& operator=(const WaitingForJobs&) = delete;

 private:
  Interleaving::Alone alone_;
};

// Sets a flag for the lifetime of this object.
class Raised {
 public:
  explicit Raised(std::atomic<bool>& flag) : flag_(flag) { flag_ = true; }
  ~Raised() { flag_ = false; }
  Raised(const Raised&) = delete;
  Raised& operator=(const Raised&) = delete;

 private:
  std::atomic<bool>& flag_;
};

constexpr std::chrono::milliseconds resume_pause{1000}, flush_pause{50};
// A flush begins as soon as it gets RocksDB's lock. RocksDB does not write files while it holds this lock, so
// a flush waits this long only if the host stalls.
constexpr std::chrono::milliseconds begin_wait_max{1000};
constexpr std::int64_t report_pause_ms = 1000;

// The upkeep compacts once there is at least erased_bytes_min of garbage (erased or overwritten bytes) and
// the garbage is a large part of all bytes, so that the compaction costs little compared with the writes
// before it. The required part is a quarter in a quiet moment and half while writes continue. A moment is
// quiet if at most quiet_writes_max writes, with at most quiet_bytes_max bytes, happen within quiet_time.
// After idle_time without any write, erased_bytes_min_idle of garbage is enough. In a test in which this
// lower limit always applied, a BatchWriteItem of 25 items of 1 KB took 75 % more instructions.
constexpr std::uint64_t erased_bytes_min = 8 << 20, erased_bytes_min_idle = 2 << 20;
constexpr std::uint64_t erased_share_quiet = 4, erased_share_busy = 2;
constexpr std::chrono::milliseconds quiet_time{200}, idle_time{2000};
constexpr std::uint64_t quiet_writes_max = 20, quiet_bytes_max = 1 << 20;
// A compaction copies the values in the oldest files of large values and then deletes these files. The files
// are processed in this many parts, one part at a time, because copying all files could double the memory in
// use.
constexpr std::uint64_t large_value_parts = 4;

// The maximum number of ranges with many erased keys that wait for a compaction.
constexpr std::size_t dead_ranges_max = 8;
// The minimum pause after the compaction of such a range, and the pause as a multiple of the compaction's
// duration.
constexpr std::chrono::milliseconds compaction_rest{100};
constexpr int compaction_rests = 9;

// Memory use is checked each time this many bytes have been written and, while memory is full,
// at this interval.
constexpr std::uint64_t written_bytes_between_looks = 1 << 20;
constexpr std::chrono::milliseconds room_pause{1000};
// Once memory use is within 1/trim_fraction of the limit, the process returns freed memory to the
// system immediately.
constexpr std::uint64_t trim_fraction = 8;

// Every Mayfly database has at least one of these keys once it has been opened or has a table.
constexpr std::string_view our_keys[] = {"Mexpiry-window", "Mnext-ids"};

bool has_our_keys(rocksdb::DB& db) {
  std::string value;
  return std::any_of(std::begin(our_keys), std::end(our_keys), [&](std::string_view key) {
    return db.Get(rocksdb::ReadOptions(), slice(key), &value).ok();
  });
}

}  // namespace

void Batch::append(Kind kind, std::string_view first, std::string_view second, std::string_view rest) {
  const auto first_length = static_cast<std::uint32_t>(first.size());
  const auto second_length = static_cast<std::uint32_t>(second.size() + rest.size());
  char head[entry_head_bytes];
  head[0] = static_cast<char>(kind);
  std::memcpy(head + 1, &first_length, 4);
  std::memcpy(head + 5, &second_length, 4);
  bytes_.append(head, sizeof head).append(first).append(second).append(rest);
}

Batch::Kind Batch::take(std::string_view& rest, std::string_view& first, std::string_view& second) {
  const auto kind = static_cast<Kind>(rest[0]);
  std::uint32_t first_length, second_length;
  std::memcpy(&first_length, rest.data() + 1, 4);
  std::memcpy(&second_length, rest.data() + 5, 4);
  first = rest.substr(entry_head_bytes, first_length);
  second = rest.substr(entry_head_bytes + first_length, second_length);
  rest.remove_prefix(entry_head_bytes + first_length + second_length);
  return kind;
}

struct Storage::Engine final {
  // Notes errors that stop RocksDB from writing. RocksDB continues only after it is resumed.
  class Failures final : public rocksdb::EventListener {
   public:
    explicit Failures(Engine& engine) : engine_(engine) {}
    void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override {
      const Interleaving::Alone alone;
      // RocksDB retries a failed compaction and accepts writes in the meantime.
      const bool stops = error->severity() >= rocksdb::Status::Severity::kHardError;
      if (!stops && reason == rocksdb::BackgroundErrorReason::kCompaction) {
        engine_.compaction_fails = true;
        return;
      }
      engine_.stopped = true;
      (void)engine_.jobs->hold(begin_wait_max);
      engine_.fail(error->ToString());
    }
    void OnFlushBegin(rocksdb::DB*, const rocksdb::FlushJobInfo&) override { engine_.jobs->begun(); }
    void OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo& compaction) override {
      if (compaction.status.ok()) engine_.compaction_fails = false;
    }

   private:
    Engine& engine_;
  };

  // Wakes the upkeep when a job ends. A flush frees the memory of its buffer, and every job frees the memory
  // that it needed for creating files.
  class Jobs final : public rocksdb::EventListener {
   public:
    explicit Jobs(Engine& engine) : engine_(engine) {}
    void OnFlushCompleted(rocksdb::DB*, const rocksdb::FlushJobInfo&) override { note_end(); }
    void OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo&) override { note_end(); }

   private:
    void note_end() {
      const Interleaving::Alone alone;
      engine_.job_ended = true;
      engine_.scheduler->wake(engine_.upkeep);
    }
    Engine& engine_;
  };

  explicit Engine(const StorageOptions& options)
      : report(options.report),
        memory_bytes_max(options.memory_bytes_max != 0 || !options.directory.empty()
                             ? options.memory_bytes_max
                             : os::process_memory_bytes() / 2),
        is_process(options.is_process && options.directory.empty()),
        scheduler(options.make_scheduler(1)) {}

  [[nodiscard]] rocksdb::ReadOptions read_at(const void* snapshot) const {
    rocksdb::ReadOptions options = read;
    options.snapshot = static_cast<const rocksdb::Snapshot*>(snapshot);
    return options;
  }

  void check(const rocksdb::Status& status) {
    if (!status.ok()) fault(status.ToString());
  }
  [[noreturn]] void fault(const std::string& text);
  void fail(const std::string& text);
  void tell(std::string_view sentence, bool always);

  [[nodiscard]] std::uint64_t property(const std::string& name) const {
    std::uint64_t value = 0;
    return db->GetIntProperty(name, &value) ? value : 0;
  }
  [[nodiscard]] std::uint64_t footprint_bytes() const {
    return property(rocksdb::DB::Properties::kSizeAllMemTables) +
           property(rocksdb::DB::Properties::kEstimateTableReadersMem) +
           property(rocksdb::DB::Properties::kBlockCacheUsage) +
           static_cast<std::uint64_t>(memory_file_bytes + *held_bytes);
  }
  [[nodiscard]] std::uint64_t memory_bytes() const {
    return std::max(footprint_bytes(), is_process ? os::resident_memory_bytes() : 0);
  }
  [[nodiscard]] std::uint64_t bytes_in(std::string_view begin, std::string_view end) const;

  void note_erased(std::uint64_t bytes);
  void note_written(std::uint64_t bytes);
  void look_for_room();
  [[nodiscard]] bool trim_may_help(std::uint64_t process_bytes) const;
  void trim();

  std::optional<std::chrono::milliseconds> keep_up();
  void begin_write(std::shared_lock<std::shared_mutex>& lock);
  bool resume();
  bool resume_rocksdb();
  std::optional<std::chrono::milliseconds> give_back();
  void compact_all();
  void note_dead(std::string begin, std::string end);
  std::optional<std::chrono::milliseconds> compact_dead();

  const std::function<void(std::string_view)> report;
  const std::uint64_t memory_bytes_max;
  const bool is_process;  // false for a directory
  const std::shared_ptr<StorageJobs> jobs = std::make_shared<StorageJobs>();
  std::atomic<bool> refuses_files{false};
  std::atomic<bool> resuming{false};
  // Used only for a directory. Writers hold this mutex in shared mode, and a resumption holds it in exclusive
  // mode. Writers and resumptions never wait for the mutex; they only try to lock it.
  std::shared_mutex writing;
  std::atomic<std::int64_t> memory_file_bytes{0};
  std::unique_ptr<rocksdb::Env> memory_files;  // nullptr: the files are in a directory
  std::unique_ptr<rocksdb::Env> env;           // declared before the database, which it must outlive
  bool memory = false;
  std::shared_ptr<rocksdb::Cache> block_cache;  // nullptr for a directory
  std::unique_ptr<rocksdb::DB> db;
  rocksdb::WriteOptions write;
  rocksdb::ReadOptions read;

  std::atomic<std::uint64_t> faults{0};
  std::atomic<std::uint64_t> writes{0};
  std::atomic<std::uint64_t> erased_bytes{0};  // since the last compaction by give_back()
  std::atomic<std::uint64_t> written_bytes{0};
  const std::shared_ptr<std::atomic<std::int64_t>> held_bytes =
      std::make_shared<std::atomic<std::int64_t>>(0);  // memory outside RocksDB
  std::atomic<bool> full{false};
  std::atomic<std::uint64_t> bytes_after_trim{0};  // the process's memory after the last trim
  std::atomic<bool> failing{false};
  std::atomic<bool> stopped{false};           // RocksDB has an error and has not been resumed since
  std::atomic<bool> compaction_fails{false};  // the latest finished compaction failed
  Mutex mutex;
  std::string failure GUARDED_BY(mutex);  // the error, while `failing` is true
  std::int64_t reported_ms GUARDED_BY(mutex) = 0;
  struct DeadRange {
    std::string begin, end;
  };
  std::vector<DeadRange> dead GUARDED_BY(mutex);  // ranges to be compacted
  std::atomic<bool> job_ended{false};             // used only by in-memory storage
  // Used only by the upkeep.
  std::uint64_t writes_before = 0, bytes_before = 0;
  bool trims = false;  // whether to trim in the next quiet moment
  RealTime idle_since{}, rests_until{};

  // Recovers from errors and returns memory in the background, because writers must not wait for this work.
  class Upkeep final : public Task {
   public:
    explicit Upkeep(Engine& engine) : engine_(engine) {}

   private:
    Next step() override {
      const auto pause = engine_.keep_up();
      return pause ? Next::after(*engine_.scheduler, *pause) : Next::when_woken();
    }
    Next failed(std::string_view) override { return Next::after(*engine_.scheduler, resume_pause); }
    Engine& engine_;
  };
  const std::shared_ptr<Scheduler> scheduler;
  const std::shared_ptr<Task> upkeep = std::make_shared<Upkeep>(*this);
};

// Limits the rate of reports, because log lines could otherwise fill up a disk that is already nearly full.
void Storage::Engine::tell(std::string_view sentence, bool always) {
  if (!report) return;
  const std::int64_t now_ms = host_time().time_since_epoch() / std::chrono::milliseconds(1);
  {
    const Lock lock(mutex);
    if (!always && now_ms - reported_ms < report_pause_ms && now_ms >= reported_ms) return;
    reported_ms = now_ms;
  }
  report(sentence);
}

void Storage::Engine::fault(const std::string& text) {
  faults.fetch_add(1, std::memory_order_relaxed);
  tell("storage failed: " + text, false);
  throw StorageFault(text);
}

void Storage::Engine::fail(const std::string& text) {
  if (refuses_files) return;  // resume() causes this error on purpose
  {
    const Lock lock(mutex);
    failure = text;
  }
  if (!failing.exchange(true)) tell("storage is read-only until this is resolved: " + text, true);
  scheduler->wake(upkeep);
}

// Throws if storage fails or is being resumed. A write does not wait for a resumption, because the duration
// of a resumption depends on the disk.
void Storage::Engine::begin_write(std::shared_lock<std::shared_mutex>& lock) {
  if (!failing) lock = std::shared_lock(writing, std::try_to_lock);
  if (lock && !failing) return;
  std::string why;
  {
    const Lock held(mutex);
    why = failure;
  }
  fault(why.empty() ? "storage is read-only while it recovers from an error" : why);
}

// Makes RocksDB write its buffers to files and accept writes again. Returns false if that has not succeeded
// yet.
bool Storage::Engine::resume_rocksdb() {
  // Even without an error, RocksDB would wait until no compaction is left to retry.
  if (!stopped) return true;
  if (jobs->flush_runs()) return false;
  stopped = false;
  bool resumed = false;
  if (!jobs->begin_resuming()) {
    resumed = db->Resume().ok();
  } else {
    // The held flush must not run before a resumption is in progress, and the resumption cannot end before
    // the flush has run. So two threads call Resume(): RocksDB rejects the second call as busy, which shows
    // that the first call is in progress.
    const auto resume_or_release = [this] {
      const rocksdb::Status status = db->Resume();
      if (status.IsBusy()) jobs->release();
      return status;
    };
    rocksdb::Status others;
    std::thread other;
    try {
      other = std::thread([&] { others = resume_or_release(); });
    } catch (const std::system_error&) {  // no thread is available; a later attempt may succeed
      stopped = true;
      return false;
    }
    const rocksdb::Status own = resume_or_release();
    other.join();
    resumed = own.IsBusy() ? others.ok() : own.ok();
  }
  if (resumed)
    jobs->release();  // flushes that the resumption did not wait for
  else
    stopped = true;
  return resumed;
}

// Recovers RocksDB from the error that stopped it. Returns false if the recovery has not succeeded yet.
bool Storage::Engine::resume() {
  const std::unique_lock nobody_writes(writing, std::try_to_lock);
  if (!nobody_writes) return false;
  // RocksDB resumes only when no compaction is left, and it repeats a compaction that runs out of space. The
  // disk may have space for writes but not for the compaction. So compactions give up while storage resumes,
  // and the flush that resumes RocksDB schedules them again.
  const Raised until_the_end(resuming);
  const WaitingForJobs waiting;
  if (!resume_rocksdb()) return false;
  // If RocksDB could not write to its log, that log ends within a record and accepts no further records. Only
  // a resumption begins a new log, and only if there is a buffer to write. So put an entry into the buffer,
  // and cause an error to resume from by refusing to create the new log.
  rocksdb::WriteOptions without_log;
  without_log.disableWAL = true;
  without_log.no_slowdown = true;
  if (const rocksdb::Status status = db->Delete(without_log, "Mresumed"); !status.ok()) {
    // RocksDB announces an error before the error takes effect. A resumption between these two events finds
    // nothing to do, so it must be repeated. An "incomplete" write is one that a compaction delays.
    if (!status.IsIncomplete()) stopped = true;
    return false;
  }
  rocksdb::FlushOptions at_once;
  at_once.allow_write_stall = true;  // there are no writers
  bool begun = false;
  {
    const Raised meanwhile(refuses_files);
    begun = db->Flush(at_once).ok();  // the flush succeeds if the log was empty
  }
  return begun || resume_rocksdb();
}

std::optional<std::chrono::milliseconds> Storage::Engine::keep_up() {
  if (failing) {
    if (!resume()) return jobs->flush_runs() ? flush_pause : resume_pause;
    {
      const Lock lock(mutex);
      failure.clear();
      failing = false;
    }
    tell("storage accepts writes again", true);
  }
  auto pause = give_back();
  if (const auto rest = compact_dead()) pause = std::min(pause.value_or(*rest), *rest);
  if (!full) return pause;
  look_for_room();
  return full ? std::min(pause.value_or(room_pause), room_pause) : pause;
}

void Storage::Engine::note_written(std::uint64_t bytes) {
  const std::uint64_t before = written_bytes.fetch_add(bytes, std::memory_order_relaxed);
  if (before / written_bytes_between_looks != (before + bytes) / written_bytes_between_looks) look_for_room();
}

void Storage::Engine::look_for_room() {
  std::uint64_t bytes = memory_bytes();
  // Freed memory should not count, so trim first. A trim takes milliseconds, so the upkeep usually does it in
  // advance.
  if (bytes >= memory_bytes_max && trim_may_help(bytes)) {
    trim();
    bytes = memory_bytes();
  }
  if (bytes < bytes_after_trim) bytes_after_trim = bytes;
  const bool now_full = bytes >= memory_bytes_max;
  if (!now_full && trim_may_help(bytes)) scheduler->wake(upkeep);
  if (full.exchange(now_full) == now_full) return;
  tell(now_full ? "storage reached its memory limit and rejects new data until memory is freed"
                : "storage is below its memory limit again",
       true);
  if (now_full) scheduler->wake(upkeep);
}

void Storage::Engine::note_erased(std::uint64_t bytes) {
  const std::uint64_t before = erased_bytes.fetch_add(bytes, std::memory_order_relaxed);
  // Wake the upkeep from time to time, so that it checks whether there is enough garbage.
  if (before / erased_bytes_min_idle != (before + bytes) / erased_bytes_min_idle) scheduler->wake(upkeep);
}

std::uint64_t Storage::Engine::bytes_in(std::string_view begin, std::string_view end) const {
  const rocksdb::Range range(slice(begin), slice(end));
  std::uint64_t count = 0, in_buffers = 0, in_files = 0;
  db->GetApproximateMemTableStats(range, &count, &in_buffers);
  if (!db->GetApproximateSizes(rocksdb::SizeApproximationOptions(), db->DefaultColumnFamily(), &range, 1,
                               &in_files)
           .ok())
    return in_buffers;
  // RocksDB does not report where the large values are, so assume that they are spread evenly over the keys.
  const auto all = static_cast<double>(property(rocksdb::DB::Properties::kTotalSstFilesSize));
  const auto large = static_cast<double>(property(rocksdb::DB::Properties::kTotalBlobFileSize));
  if (all > 0) in_files += static_cast<std::uint64_t>(large / all * static_cast<double>(in_files));
  return in_buffers + in_files;
}

// Whether memory is near the limit and the process has grown since the last trim. Memory that a trim did not
// return is in use or fragmented.
bool Storage::Engine::trim_may_help(std::uint64_t process_bytes) const {
  const std::uint64_t part = memory_bytes_max / trim_fraction;
  return is_process && process_bytes >= memory_bytes_max - part &&
         process_bytes >= bytes_after_trim + part / 8;
}

void Storage::Engine::trim() {
  os::trim_freed_memory();
  if (is_process) bytes_after_trim = os::resident_memory_bytes();
}

void Storage::Engine::compact_all() {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  options.exclusive_manual_compaction = false;
  options.blob_garbage_collection_policy = rocksdb::BlobGarbageCollectionPolicy::kForce;
  const WaitingForJobs waiting;
  for (std::uint64_t parts = large_value_parts; parts > 0; --parts) {
    const bool few_files = property(rocksdb::DB::Properties::kNumBlobFiles) < large_value_parts;
    options.blob_garbage_collection_age_cutoff = few_files ? 1 : 1.0 / large_value_parts;
    (void)db->CompactRange(options, nullptr, nullptr);
    block_cache->EraseUnRefEntries();  // also frees the blocks of deleted files
    const std::uint64_t large_garbage = property(rocksdb::DB::Properties::kLiveBlobFileGarbageSize);
    if (large_garbage < std::max(erased_bytes_min_idle, footprint_bytes() / erased_share_quiet)) return;
  }
}

std::optional<std::chrono::milliseconds> Storage::Engine::give_back() {
  if (!memory) return std::nullopt;
  if (is_process && trim_may_help(os::resident_memory_bytes())) trim();
  if (job_ended.exchange(false)) {
    trims = true;  // later, because a job frees its memory only after it has called its listeners
    return quiet_time;
  }
  const std::uint64_t erased = erased_bytes;
  const std::uint64_t held = footprint_bytes();
  const auto is_enough = [&](std::uint64_t bytes_min, std::uint64_t share) {
    return erased >= (full ? erased_bytes_min : std::max(bytes_min, held / share));
  };
  const bool enough_if_idle = is_enough(erased_bytes_min_idle, erased_share_quiet);
  if (!enough_if_idle && !trims) return std::nullopt;
  const std::uint64_t writes_now = writes;
  const std::uint64_t bytes_now = written_bytes;
  const std::uint64_t new_writes = writes_now - std::exchange(writes_before, writes_now);
  const std::uint64_t new_bytes = bytes_now - std::exchange(bytes_before, bytes_now);
  const bool quiet = new_writes <= quiet_writes_max && new_bytes <= quiet_bytes_max;
  const RealTime now = scheduler->now();
  if (new_writes > 0) idle_since = now;
  const bool idle = now - idle_since >= idle_time;
  const bool compacts = is_enough(idle ? erased_bytes_min_idle : erased_bytes_min,
                                  quiet ? erased_share_quiet : erased_share_busy);
  if (!compacts && !(quiet && trims)) return quiet_time;
  if (compacts) {
    erased_bytes -= erased;
    compact_all();
  }
  trims = !quiet && !full;  // while writes continue, the allocator soon reuses freed pages
  if (trims) return quiet_time;
  trim();
  if (quiet && is_process) os::give_back_code();
  return enough_if_idle && !compacts ? std::optional(quiet_time) : std::nullopt;
}

void Storage::Engine::note_dead(std::string begin, std::string end) {
  {
    const Lock lock(mutex);
    for (DeadRange& range : dead) {
      if (begin > range.end || range.begin > end) continue;
      range.begin = std::min(range.begin, begin);
      range.end = std::max(range.end, end);
      return;
    }
    if (dead.size() == dead_ranges_max) return;  // the next read of this range notes it again
    dead.push_back({std::move(begin), std::move(end)});
  }
  scheduler->wake(upkeep);
}

std::optional<std::chrono::milliseconds> Storage::Engine::compact_dead() {
  using std::chrono::milliseconds;
  const RealTime began = scheduler->now();
  DeadRange range;
  {
    const Lock lock(mutex);
    if (dead.empty()) return std::nullopt;
    if (began < rests_until) return std::chrono::ceil<milliseconds>(rests_until - began);
    range = std::move(dead.front());
    dead.erase(dead.begin());
  }
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  options.exclusive_manual_compaction = false;
  const rocksdb::Slice begin = slice(range.begin), end = slice(range.end);
  {
    const WaitingForJobs waiting;
    (void)db->CompactRange(options, &begin, &end);
  }
  const RealTime ended = scheduler->now();
  const auto rest = std::max<RealTime::duration>(compaction_rest, compaction_rests * (ended - began));
  rests_until = ended + rest;
  const Lock lock(mutex);
  return dead.empty() ? std::nullopt : std::optional(std::chrono::ceil<milliseconds>(rest));
}

Storage::Storage(StorageOptions options, std::unique_ptr<Engine> engine)
    : options_(std::move(options)), engine_(std::move(engine)) {}

Storage::~Storage() {
  if (!engine_->db) return;
  // The upkeep may be compacting or resuming, which can take a long time and, if the disk stays
  // full, never ends.
  engine_->db->DisableManualCompaction();
  rocksdb::CancelAllBackgroundWork(engine_->db.get(), /*wait=*/false);
  engine_->jobs->release_for_good();
  engine_->scheduler->end();
  (void)engine_->db->Close();
}

namespace {

// RocksDB has no separate status code for a held LOCK file. The text is "IO error: While lock file:
// .../LOCK: ..." if another process holds it, and "IO error: lock hold by current process, ..." if this
// process holds it. On Windows, it is "IO error: Failed to create lock file: ..." for every reason.
bool is_held(const std::string& directory, const rocksdb::Status& status) {
  const std::string text = status.ToString();
  const auto says = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  if (!status.IsIOError()) return false;
  if (says("While lock file") || says("lock hold by current process")) return true;
  std::error_code error;
  if (says("Failed to create lock file"))
    (void)os::File::open(directory + "/LOCK", {.access = os::Access::write}, error);
  return error == std::errc::device_or_resource_busy;
}

Unexpected<std::string> cannot_open(const std::string& directory, const rocksdb::Status& status) {
  if (is_held(directory, status))
    return Unexpected{"the data directory " + directory + " is in use by another process"};
  return Unexpected{"cannot open the data directory " + directory + ": " + status.ToString()};
}

// RocksDB appends names with a slash, which Windows forbids in paths that begin with \\?\.
std::string plain(const std::string& path) { return os::text_of(os::path_of(path)); }

// A RocksDB database without a mark was written either by a Mayfly version that did not write marks yet, or
// by another program.
Expected<void, std::string> check_is_ours(rocksdb::Options options, const std::string& directory) {
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;  // logs are checked later
  rocksdb::DB* opened = nullptr;
  if (const auto status = rocksdb::DB::OpenForReadOnly(options, directory, &opened); !status.ok())
    return cannot_open(directory, status);
  const std::unique_ptr<rocksdb::DB> db(opened);
  if (engine::has_our_keys(*db)) return {};
  return Unexpected{not_ours(directory)};
}

// Checks the directory and repairs its logs.
// Requires: the caller holds the directory's LOCK file.
Expected<void, std::string> look_over(const std::string& directory, DataDirectory found,
                                      const rocksdb::Options& options) {
  if (found == DataDirectory::unmarked) CHECK_OK(check_is_ours(options, directory));
  return mend_write_ahead_logs(directory);
}

Expected<void, std::string> prepare(const std::string& directory, const rocksdb::Options& options) {
  TRY(const DataDirectory found, claim_data_directory(directory));
  rocksdb::FileLock* lock = nullptr;
  if (const auto status = options.env->LockFile(directory + "/LOCK", &lock); !status.ok())
    return cannot_open(directory, status);
  auto looked_over = look_over(directory, found, options);
  (void)options.env->UnlockFile(lock);
  CHECK_OK(std::move(looked_over));
  if (found != DataDirectory::claimed) CHECK_OK(mark_data_directory(directory));
  return {};
}

}  // namespace

Expected<std::unique_ptr<Storage>, std::string> Storage::open(StorageOptions options) {
  options.directory = plain(options.directory);
  auto engine = std::make_unique<Engine>(options);
  rocksdb::Options rocksdb_options;
  std::string path = options.directory;
  rocksdb::Env& base = options.env != nullptr ? *options.env : *rocksdb::Env::Default();
  if (options.directory.empty()) {
    engine->memory = true;
    engine->memory_files.reset(rocksdb::NewMemEnv(&base));
    engine->env =
        std::make_unique<EnvWithFiles>(base,
                                       without_options_files(counted_files(
                                           engine->memory_files->GetFileSystem(), engine->memory_file_bytes)),
                                       engine->jobs);
    engine->block_cache = rocksdb::NewLRUCache(8 << 20, /*num_shard_bits=*/0);
    rocksdb_options = memory_options(engine->env.get(), engine->block_cache, engine->memory_bytes_max);
    rocksdb_options.listeners.push_back(std::make_shared<Engine::Jobs>(*engine));
    path = "/mayfly";
    engine->write.disableWAL = true;
    engine->read.verify_checksums = false;
  } else {
    rocksdb_options = disk_options();
    engine->env = std::make_unique<EnvWithFiles>(
        base,
        without_options_files(
            private_files(base.GetFileSystem(), options.file_fails, engine->refuses_files,
                          [&engine = *engine] { return engine.resuming && StorageJobs::compacts(); })),
        engine->jobs);
    rocksdb_options.env = engine->env.get();
    rocksdb_options.listeners.push_back(std::make_shared<Engine::Failures>(*engine));
    engine->write.sync = options.fsync;
    CHECK_OK(prepare(options.directory, rocksdb_options));
  }
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(rocksdb_options, path, &db);
  if (!status.ok()) return cannot_open(options.directory, status);
  engine->db.reset(db);
  return std::unique_ptr<Storage>(new Storage(std::move(options), std::move(engine)));
}

Expected<DirectoryLock, std::string> DirectoryLock::take(const std::string& given) {
  const std::string directory = plain(given);
  rocksdb::FileLock* lock = nullptr;
  // RocksDB creates the LOCK file when it opens a database. Creating the file here would
  // change the directory.
  if (rocksdb::Env::Default()->FileExists(directory + "/LOCK").IsNotFound()) return DirectoryLock(lock);
  const auto status = rocksdb::Env::Default()->LockFile(directory + "/LOCK", &lock);
  if (!status.ok()) return cannot_open(directory, status);
  return DirectoryLock(lock);
}

DirectoryLock::~DirectoryLock() {
  if (lock_ != nullptr) (void)rocksdb::Env::Default()->UnlockFile(static_cast<rocksdb::FileLock*>(lock_));
}

Expected<std::unique_ptr<Storage>, Storage::OpenFailure> Storage::open_to_read(const std::string& directory) {
  StorageOptions options{.directory = plain(directory)};
  auto engine = std::make_unique<Engine>(options);
  rocksdb::Options rocksdb_options = disk_options();
  rocksdb_options.create_if_missing = false;
  rocksdb_options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  rocksdb::DB* db = nullptr;
  if (const auto status = rocksdb::DB::OpenForReadOnly(rocksdb_options, options.directory, &db); !status.ok())
    return Unexpected{OpenFailure{cannot_open(directory, status).error,
                                  status.IsCorruption() || status.IsPathNotFound() || status.IsNotFound()}};
  engine->db.reset(db);
  return std::unique_ptr<Storage>(new Storage(std::move(options), std::move(engine)));
}

bool Storage::has_our_keys() const { return engine::has_our_keys(*engine_->db); }

std::vector<std::string> Storage::table_files() const {
  std::vector<rocksdb::LiveFileMetaData> files;
  engine_->db->GetLiveFilesMetaData(&files);
  std::vector<std::string> paths;
  for (const auto& file : files) paths.push_back(file.db_path + file.name);
  return paths;
}

std::string Storage::table_file_flaw(const std::string& path) {
  rocksdb::SstFileReader reader(disk_options());
  rocksdb::Status status = reader.Open(path);
  if (status.ok()) status = reader.VerifyChecksum();
  return status.ok() ? "" : status.ToString();
}

Expected<void, std::string> Storage::put_together(const std::string& directory) {
  if (const auto status = rocksdb::RepairDB(plain(directory), disk_options()); !status.ok())
    return Unexpected{"cannot repair the data directory " + directory + ": " + status.ToString()};
  return {};
}

std::uint64_t Storage::key_count_estimate() const {
  return engine_->property(rocksdb::DB::Properties::kEstimateNumKeys);
}

std::string Storage::failure() const {
  if (!engine_->failing) return {};
  const Lock lock(engine_->mutex);
  return engine_->failure;
}

std::uint64_t Storage::faults() const { return engine_->faults; }

std::uint64_t Storage::footprint_bytes() const { return engine_->footprint_bytes(); }

void Storage::hold(std::int64_t bytes) const {
  engine_->held_bytes->fetch_add(bytes, std::memory_order_relaxed);
}

Storage::Holding::Holding(const Storage& storage, std::uint64_t bytes) : all_(storage.engine_->held_bytes) {
  set(bytes);
}

bool Storage::has_room() const { return !engine_->full; }

std::uint64_t Storage::memory_bytes_max() const { return engine_->memory_bytes_max; }

void Storage::write(const Batch& batch) {
  if (options_.write_fails && options_.write_fails()) engine_->fault("a test made this write fail");
  std::shared_lock<std::shared_mutex> writing;
  if (durable()) engine_->begin_write(writing);
  THREAD_LOCAL rocksdb::WriteBatch rocksdb_batch;  // thread-local, so that its buffer is reused
  rocksdb_batch.Clear();
  bool any_range = false;
  batch.for_each([&](Batch::Kind kind, std::string_view first, std::string_view second) {
    switch (kind) {
      case Batch::Kind::put: engine_->check(rocksdb_batch.Put(slice(first), slice(second))); break;
      case Batch::Kind::erase: engine_->check(rocksdb_batch.Delete(slice(first))); break;
      case Batch::Kind::erase_range:
        engine_->check(erase_range_in(rocksdb_batch, first, second));
        any_range = true;
        break;
    }
  });
  rocksdb::WriteOptions write = engine_->write;
  // Writes that outpace compactions wait for them, unless compactions fail, for example for lack of space.
  write.no_slowdown = engine_->compaction_fails.load(std::memory_order_relaxed);
  const rocksdb::Status written = engine_->db->Write(write, &rocksdb_batch);
  if (!written.ok()) {
    const std::string why = write.no_slowdown && written.IsIncomplete()
                                ? "too many files are waiting for compaction, and the last compaction failed"
                                : written.ToString();
    if (durable()) engine_->fail(why);
    engine_->fault(why);
  }
  engine_->writes.fetch_add(1, std::memory_order_relaxed);
  if (durable()) return;
  engine_->note_written(rocksdb_batch.GetDataSize());
  if (batch.erased_bytes() == 0 && !any_range) return;
  std::uint64_t erased = batch.erased_bytes();
  if (any_range) {
    batch.for_each([&](Batch::Kind kind, std::string_view first, std::string_view second) {
      if (kind == Batch::Kind::erase_range) erased += engine_->bytes_in(first, second);
    });
  }
  engine_->note_erased(erased);
}

void Storage::erase_range(Batch& batch, std::string_view begin, std::string_view end) const {
  Iterator iterator(*this, begin, end);
  Batch singles;
  int count = 0;
  for (iterator.seek_to_first(); iterator.valid(); iterator.next()) {
    if (++count > single_erasures_max) {
      batch.erase_range(begin, end);
      return;
    }
    singles.erase(iterator.key(), iterator.value().size());
  }
  batch.append(singles);
}

void Storage::erase_prefix(Batch& batch, std::string_view prefix) const {
  erase_range(batch, prefix, prefix_end(prefix));
}

Storage::Snapshot::Snapshot(const Storage& storage)
    : storage_(storage), snapshot_(storage.engine_->db->GetSnapshot()) {}

Storage::Snapshot::~Snapshot() {
  storage_.engine_->db->ReleaseSnapshot(static_cast<const rocksdb::Snapshot*>(snapshot_));
}

bool Storage::get(std::string_view key, std::string& value, const Snapshot* snapshot) const {
  rocksdb::DB& db = *engine_->db;
  const rocksdb::Status status =
      snapshot ? db.Get(engine_->read_at(snapshot->snapshot_), db.DefaultColumnFamily(), slice(key), &value)
               : db.Get(engine_->read, db.DefaultColumnFamily(), slice(key), &value);
  if (status.IsNotFound()) return false;
  engine_->check(status);
  return true;
}

struct Storage::Iterator::State {
  explicit State(Engine& engine_) : engine(engine_) {}

  // Moves the iterator. Returns whether it passed more than `dead_keys_max` erased keys.
  template <typename Move>
  bool passes_many(Move&& move) {
    const auto& passed = rocksdb::get_perf_context()->internal_delete_skipped_count;
    const std::uint64_t before = passed;
    move();
    const std::uint64_t count = passed - before;
    dead_keys += count;
    return count > dead_keys_max;
  }
  // After a seek, notes that the erased keys are between `from` and the iterator's position.
  void note_dead(std::string_view from, bool backward) {
    std::string here = place(backward);
    std::string there(from);
    if (there > here) there.swap(here);
    engine.note_dead(std::move(there), std::move(here));
  }
  // Does the same after a step. Finds the key at which the step began by moving the iterator back and forth.
  void note_dead_step(bool backward) {
    const bool at_end = !iterator->Valid();
    if (at_end && !iterator->status().ok()) return;
    std::string here = place(backward);
    if (backward) {
      at_end ? iterator->Seek(lower_slice) : iterator->Next();
    } else {
      at_end ? iterator->SeekToLast() : iterator->Prev();
    }
    std::string there = place(!backward);
    backward ? iterator->Prev() : iterator->Next();
    if (there > here) there.swap(here);
    engine.note_dead(std::move(there), std::move(here));
  }
  [[nodiscard]] std::string place(bool backward) const {
    return iterator->Valid() ? iterator->key().ToString() : backward ? lower : upper;
  }

  Engine& engine;
  std::string lower, upper;
  rocksdb::Slice lower_slice, upper_slice;  // RocksDB keeps pointers to them
  std::unique_ptr<rocksdb::Iterator> iterator;
  std::uint64_t dead_keys = 0;
};

Storage::Iterator::Iterator(const Storage& storage, std::string_view lower, std::string_view upper,
                            const Snapshot* snapshot)
    : state_(std::make_unique<State>(*storage.engine_)) {
  state_->lower = lower;
  state_->upper = upper;
  state_->lower_slice = slice(state_->lower);
  state_->upper_slice = slice(state_->upper);
  rocksdb::ReadOptions options = storage.engine_->read_at(snapshot ? snapshot->snapshot_ : nullptr);
  options.iterate_lower_bound = &state_->lower_slice;
  options.iterate_upper_bound = &state_->upper_slice;
  state_->iterator.reset(storage.engine_->db->NewIterator(options));
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);  // applies to the calling thread
}

Storage::Iterator::~Iterator() = default;
Storage::Iterator::Iterator(Iterator&&) noexcept = default;
Storage::Iterator& Storage::Iterator::operator=(Iterator&&) noexcept = default;

void Storage::Iterator::seek_to_first() {
  if (state_->passes_many([&] { state_->iterator->Seek(state_->lower_slice); }))
    state_->note_dead(state_->lower, false);
}

void Storage::Iterator::seek_to_last() {
  if (state_->passes_many([&] { state_->iterator->SeekToLast(); })) state_->note_dead(state_->upper, true);
}

void Storage::Iterator::seek(std::string_view key) {
  if (state_->passes_many([&] { state_->iterator->Seek(slice(key)); })) state_->note_dead(key, false);
}

void Storage::Iterator::next() {
  if (state_->passes_many([&] { state_->iterator->Next(); })) state_->note_dead_step(false);
}

void Storage::Iterator::prev() {
  if (state_->passes_many([&] { state_->iterator->Prev(); })) state_->note_dead_step(true);
}

std::uint64_t Storage::Iterator::dead_keys_passed() const { return state_->dead_keys; }

bool Storage::Iterator::valid() const {
  if (state_->iterator->Valid()) return true;
  state_->engine.check(state_->iterator->status());
  return false;
}

std::string_view Storage::Iterator::key() const {
  const rocksdb::Slice key = state_->iterator->key();
  return {key.data(), key.size()};
}

std::string_view Storage::Iterator::value() const {
  const rocksdb::Slice value = state_->iterator->value();
  return {value.data(), value.size()};
}

}  // namespace mayfly::engine
