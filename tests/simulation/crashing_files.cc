#include "tests/simulation/crashing_files.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "engine/base/interleaving.h"

namespace mayfly::testing {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

namespace {

// Whether this thread runs a compaction that a simulated thread waits for. RocksDB restarts a failed
// compaction until the disk works again, but while a simulated thread waits, no other simulated thread can
// repair the disk. Such a compaction can therefore always read.
thread_local bool is_waited_for = false;

}  // namespace

// --- files

class SimulatedEnv::Files final : public rocksdb::FileSystemWrapper {
 public:
  explicit Files(std::shared_ptr<rocksdb::FileSystem> base) : FileSystemWrapper(std::move(base)) {}
  const char* Name() const override { return "CrashingFiles"; }

  // Counts a change. Returns an error if the change must fail.
  IOStatus change() {
    const std::lock_guard lock(mutex_);
    if (dead_) return IOStatus::IOError("the machine has crashed");
    ++operations_;
    if (crash_at_ != 0 && operations_ >= crash_at_) {
      dead_ = true;
      return IOStatus::IOError("the machine has crashed");
    }
    return failing_ == Failing::writes ? full() : IOStatus::OK();
  }
  static IOStatus full() { return IOStatus::NoSpace("the disk is full"); }
  [[nodiscard]] bool crashed() const {
    const std::lock_guard lock(mutex_);
    return dead_;
  }
  void crash_at(std::uint64_t operation) {
    const std::lock_guard lock(mutex_);
    crash_at_ = operation == 0 ? 0 : operations_ + operation;
  }
  void fail(Failing failing) {
    const std::lock_guard lock(mutex_);
    failing_ = failing;
    room_.reset();
  }
  void leave_room(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    failing_ = Failing::nothing;
    room_ = bytes;
  }

  // Reserves space for up to `bytes` bytes. Returns the number of bytes that fit.
  std::uint64_t take_room(const std::string& path, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (room_) {
      bytes = std::min(bytes, *room_);
      *room_ -= bytes;
    }
    written_[path].bytes += bytes;
    return bytes;
  }
  void synced(const std::string& path) {
    const std::lock_guard lock(mutex_);
    Written& written = written_[path];
    written.synced = written.bytes;
  }

  class File final : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<rocksdb::FSWritableFile>&& file, std::string path, Files& files)
        : FSWritableFileOwnerWrapper(std::move(file)), path_(std::move(path)), files_(files) {}

    IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, IODebugContext* context) override {
      if (IOStatus status = files_.change(); !status.ok()) return status;
      const rocksdb::Slice fits(data.data(), files_.take_room(path_, data.size()));
      IOStatus status = target()->Append(fits, options, context);
      if (status.ok()) status = target()->Flush(options, context);
      return status.ok() && fits.size() < data.size() ? full() : status;
    }
    IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                    const rocksdb::DataVerificationInfo&, IODebugContext* context) override {
      return Append(data, options, context);
    }
    IOStatus Sync(const IOOptions&, IODebugContext*) override { return synced(); }
    IOStatus Fsync(const IOOptions&, IODebugContext*) override { return synced(); }
    IOStatus Truncate(std::uint64_t, const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
    IOStatus Allocate(std::uint64_t, std::uint64_t, const IOOptions&, IODebugContext*) override {
      return IOStatus::OK();
    }
    IOStatus RangeSync(std::uint64_t, std::uint64_t, const IOOptions&, IODebugContext*) override {
      return IOStatus::OK();
    }
    // Closing works even after a crash.
    IOStatus Close(const IOOptions& options, IODebugContext* context) override {
      return target()->Close(options, context);
    }

   private:
    IOStatus synced() {
      if (IOStatus status = files_.change(); !status.ok()) return status;
      files_.synced(path_);
      return IOStatus::OK();
    }

    const std::string path_;
    Files& files_;
  };

  class ReadFile final : public rocksdb::FSRandomAccessFileOwnerWrapper {
   public:
    ReadFile(std::unique_ptr<rocksdb::FSRandomAccessFile>&& file, const Files& files)
        : FSRandomAccessFileOwnerWrapper(std::move(file)), files_(files) {}

    IOStatus Read(std::uint64_t offset, std::size_t bytes, const IOOptions& options, rocksdb::Slice* result,
                  char* scratch, IODebugContext* context) const override {
      if (IOStatus status = files_.read(); !status.ok()) return status;
      return target()->Read(offset, bytes, options, result, scratch, context);
    }

   private:
    const Files& files_;
  };

  IOStatus NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions& options,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                               IODebugContext* context) override {
    if (IOStatus status = read(); !status.ok()) return status;
    IOStatus status = target()->NewRandomAccessFile(path, options, file, context);
    if (status.ok()) *file = std::make_unique<ReadFile>(std::move(*file), *this);
    return status;
  }
  IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file, IODebugContext* context) override {
    if (IOStatus status = change(); !status.ok()) return status;
    rocksdb::FileOptions plain = options;
    plain.use_mmap_writes = false;
    IOStatus status = target()->NewWritableFile(path, plain, file, context);
    if (!status.ok()) return status;
    {
      const std::lock_guard lock(mutex_);
      written_[path] = {};
    }
    *file = std::make_unique<File>(std::move(*file), path, *this);
    return status;
  }
  IOStatus ReopenWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* file,
                              IODebugContext* context) override {
    if (IOStatus status = change(); !status.ok()) return status;
    IOStatus status = target()->ReopenWritableFile(path, options, file, context);
    if (status.ok()) *file = std::make_unique<File>(std::move(*file), path, *this);
    return status;
  }
  IOStatus ReuseWritableFile(const std::string& path, const std::string& old,
                             const rocksdb::FileOptions& options,
                             std::unique_ptr<rocksdb::FSWritableFile>* file,
                             IODebugContext* context) override {
    if (IOStatus status = DeleteFile(old, options.io_options, context); !status.ok()) return status;
    return NewWritableFile(path, options, file, context);
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions& options, IODebugContext* context) override {
    if (IOStatus status = change(); !status.ok()) return status;
    {
      const std::lock_guard lock(mutex_);
      const auto deleted = written_.extract(path);
      if (room_ && !deleted.empty()) *room_ += deleted.mapped().bytes;
    }
    return target()->DeleteFile(path, options, context);
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* context) override {
    if (IOStatus status = change(); !status.ok()) return status;
    {
      const std::lock_guard lock(mutex_);
      const auto moved = written_.extract(from);
      written_.erase(to);
      if (!moved.empty()) written_[to] = moved.mapped();
    }
    return target()->RenameFile(from, to, options, context);
  }

  void restart(Lost lost, std::mt19937_64& random) {
    const std::lock_guard lock(mutex_);
    for (auto& [path, written] : written_) {
      if (lost == Lost::unsynced && written.synced < written.bytes) {
        written.bytes = written.synced + random() % (written.bytes - written.synced + 1);
        std::error_code failed;
        std::filesystem::resize_file(path, written.bytes, failed);
      }
      written.synced = written.bytes;
    }
    dead_ = false;
    failing_ = Failing::nothing;
    room_.reset();
    crash_at_ = 0;
  }

  [[nodiscard]] IOStatus read() const {
    const std::lock_guard lock(mutex_);
    if (failing_ != Failing::reads || is_waited_for) return IOStatus::OK();
    // The error is retryable: after any other read error during a write, RocksDB stops all writes until the
    // database is reopened.
    IOStatus status = IOStatus::IOError("the disk cannot be read");
    status.SetRetryable(true);
    return status;
  }

 private:
  struct Written {
    std::uint64_t bytes = 0, synced = 0;
  };

  mutable std::mutex mutex_;  // used by the thread that waits for jobs and by the jobs
  Failing failing_ = Failing::nothing;
  std::optional<std::uint64_t> room_;  // bytes that can be appended; nullopt if unlimited
  bool dead_ = false;
  std::uint64_t operations_ = 0, crash_at_ = 0;
  std::map<std::string, Written> written_;
};

// --- jobs

class SimulatedEnv::Jobs final : public engine::Task {
 public:
  explicit Jobs(SimulatedEnv& env) : env_(env) {}

 private:
  Next step() override {
    if (env_.jobs_.empty()) return Next::when_woken();
    const Job job = env_.jobs_.front();
    env_.jobs_.pop_front();
    {
      const engine::Interleaving::Alone alone;  // the job holds RocksDB's locks
      job.run(job.argument);
    }
    return env_.jobs_.empty() ? Next::when_woken() : Next::at_once();
  }
  Next failed(std::string_view) override { return Next::at_once(); }

  SimulatedEnv& env_;
};

namespace {

// RocksDB sleeps for a second before it retries failed work. In the simulation other threads' steps take the
// place of that second.
class SleeplessClock final : public rocksdb::SystemClockWrapper {
 public:
  SleeplessClock() : SystemClockWrapper(rocksdb::SystemClock::Default()) {}
  const char* Name() const override { return "SleeplessClock"; }
  void SleepForMicroseconds(int) override {}
};

}  // namespace

SimulatedEnv::SimulatedEnv()
    : EnvWrapper(rocksdb::Env::Default()),
      files_(std::make_shared<Files>(rocksdb::FileSystem::Default())),
      steps_(std::make_shared<Jobs>(*this)) {
  file_system_ = files_;
  system_clock_ = std::make_shared<SleeplessClock>();
}

SimulatedEnv::~SimulatedEnv() = default;

void SimulatedEnv::crash_at(std::uint64_t operation) { files_->crash_at(operation); }

bool SimulatedEnv::crashed() const { return files_->crashed(); }

void SimulatedEnv::fail(Failing failing) { files_->fail(failing); }

void SimulatedEnv::leave_room(std::uint64_t bytes) { files_->leave_room(bytes); }

void SimulatedEnv::restart(Lost lost, std::mt19937_64& random) { files_->restart(lost, random); }

void SimulatedEnv::run_elsewhere(const Job& job) {
  {
    const std::lock_guard lock(elsewhere_mutex_);
    ++elsewhere_;
  }
  struct Counted {
    SimulatedEnv& env;
    Job job;
  };
  const auto run = [](void* argument) {
    const std::unique_ptr<Counted> counted(static_cast<Counted*>(argument));
    is_waited_for = counted->job.priority == Priority::LOW;
    counted->job.run(counted->job.argument);
    is_waited_for = false;
    const std::lock_guard lock(counted->env.elsewhere_mutex_);
    --counted->env.elsewhere_;
    counted->env.elsewhere_done_.notify_all();
  };
  target()->Schedule(run, new Counted{*this, job}, job.priority);
}

void SimulatedEnv::begin_waiting(int thread) {
  waiting_.insert(thread);
  for (const Job& job : std::exchange(jobs_, {})) run_elsewhere(job);
}

void SimulatedEnv::end_waiting(int thread) {
  std::unique_lock lock(elsewhere_mutex_);
  ends_ = true;
  elsewhere_done_.wait(lock, [this] { return elsewhere_ == 0; });
  ends_ = false;
  waiting_.erase(thread);
  if (!jobs_.empty()) scheduler_->wake(steps_);
}

// The caller holds RocksDB's mutex, so no other simulated thread may take a turn.
void SimulatedEnv::Schedule(void (*run)(void*), void* argument, Priority priority, void* tag,
                            void (*unscheduled)(void*)) {
  const Job job{run, argument, priority, tag, unscheduled};
  if (!waiting_.empty()) {
    {
      const std::lock_guard lock(elsewhere_mutex_);
      if (ends_ && crashed()) return jobs_.push_back(job);
    }
    return run_elsewhere(job);
  }
  const engine::Interleaving::Alone alone;
  jobs_.push_back(job);
  scheduler_->wake(steps_);
}

int SimulatedEnv::UnSchedule(void* tag, Priority priority) {
  std::deque<Job> taken;
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    if (job->tag == tag && job->priority == priority) {
      taken.push_back(*job);
      job = jobs_.erase(job);
    } else {
      ++job;
    }
  }
  for (const Job& job : taken)
    if (job.unscheduled != nullptr) job.unscheduled(job.argument);
  return static_cast<int>(taken.size());
}

unsigned int SimulatedEnv::GetThreadPoolQueueLen(Priority priority) const {
  return static_cast<unsigned int>(
      std::count_if(jobs_.begin(), jobs_.end(), [&](const Job& job) { return job.priority == priority; }));
}

}  // namespace mayfly::testing
