#include "engine/storage/storage_jobs.h"

#include <utility>

#include "engine/base/thread_local.h"

namespace mayfly::engine {

struct StorageJobs::Job {
  std::shared_ptr<StorageJobs> jobs;
  rocksdb::Env& base;
  void (*run)(void*);
  void* argument;
  rocksdb::Env::Priority priority;
  void* tag;
  void (*unscheduled)(void*);
  std::uint64_t number = 0;  // the number of a flush, or 0
  bool begins = false;

  [[nodiscard]] bool is_flush() const { return priority == rocksdb::Env::Priority::HIGH; }

  inline static THREAD_LOCAL Job* of_this_thread = nullptr;
};

StorageJobs::StorageJobs() = default;
StorageJobs::~StorageJobs() = default;

void StorageJobs::schedule(rocksdb::Env& base, void (*run)(void*), void* argument,
                           rocksdb::Env::Priority priority, void* tag, void (*unscheduled)(void*)) {
  auto job = std::unique_ptr<Job>(new Job{.jobs = shared_from_this(),
                                          .base = base,
                                          .run = run,
                                          .argument = argument,
                                          .priority = priority,
                                          .tag = tag,
                                          .unscheduled = unscheduled});
  if (job->is_flush()) {
    const std::lock_guard lock(mutex_);
    job->number = ++scheduled_;
    ++waiting_;
  }
  schedule(std::move(job));
}

void StorageJobs::schedule(std::unique_ptr<Job> job) {
  const auto run_it = [](void* scheduled) {
    std::unique_ptr<Job> own(static_cast<Job*>(scheduled));
    const std::shared_ptr<StorageJobs> jobs = own->jobs;
    if (!jobs->let_through(own)) return;
    Job::of_this_thread = own.get();
    own->run(own->argument);  // afterwards the database may no longer exist
    Job::of_this_thread = nullptr;
    jobs->has_ended(*own);
  };
  const auto drop_it = [](void* scheduled) {
    const std::unique_ptr<Job> own(static_cast<Job*>(scheduled));
    own->jobs->dropped(*own);
    if (own->unscheduled != nullptr) own->unscheduled(own->argument);
  };
  rocksdb::Env& base = job->base;
  const auto priority = job->priority;
  void* const tag = job->tag;
  base.Schedule(run_it, job.release(), priority, tag, drop_it);
}

// Returns false if the job is held.
bool StorageJobs::let_through(std::unique_ptr<Job>& job) {
  if (!job->is_flush()) return true;
  const std::lock_guard lock(mutex_);
  if (!closes_ && (holds_ || job->number <= held_until_)) {
    held_.push_back(std::move(job));
    return false;
  }
  --waiting_;
  ++beginning_;
  ++running_;
  job->begins = true;
  return true;
}

void StorageJobs::dropped(const Job& job) {
  if (!job.is_flush()) return;
  const std::lock_guard lock(mutex_);
  --waiting_;
}

void StorageJobs::has_begun(Job& job) {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(job.begins, false)) return;
  --beginning_;
  begun_.notify_all();
}

void StorageJobs::has_ended(Job& job) {
  has_begun(job);
  if (!job.is_flush()) return;
  const std::lock_guard lock(mutex_);
  --running_;
}

bool StorageJobs::flush_runs() {
  const std::lock_guard lock(mutex_);
  return running_ > 0;
}

void StorageJobs::begun() {
  if (Job::of_this_thread != nullptr) has_begun(*Job::of_this_thread);
}

bool StorageJobs::compacts() { return Job::of_this_thread != nullptr && !Job::of_this_thread->is_flush(); }

bool StorageJobs::hold(std::chrono::milliseconds time) {
  begun();
  std::unique_lock lock(mutex_);
  holds_ = true;
  return begun_.wait_for(lock, time, [this] { return beginning_ == 0; });
}

bool StorageJobs::begin_resuming() {
  const std::lock_guard lock(mutex_);
  holds_ = false;
  held_until_ = scheduled_;
  return waiting_ > 0;
}

void StorageJobs::release() {
  std::vector<std::unique_ptr<Job>> held;
  {
    const std::lock_guard lock(mutex_);
    held_until_ = 0;
    held.swap(held_);
  }
  for (auto& job : held) schedule(std::move(job));
}

void StorageJobs::release_for_good() {
  {
    const std::lock_guard lock(mutex_);
    closes_ = true;
  }
  release();
}

}  // namespace mayfly::engine
