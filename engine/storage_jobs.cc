#include "engine/storage_jobs.h"

#include <utility>

#include "engine/thread_local.h"

namespace mayfly::engine {

struct StorageJobs::Job {
  std::shared_ptr<StorageJobs> jobs;
  void (*run)(void*);
  void* argument;
  void (*unscheduled)(void*);
  bool is_flush;
  bool counts = true;

  inline static THREAD_LOCAL Job* of_this_thread = nullptr;
};

void StorageJobs::schedule(rocksdb::Env& base, void (*run)(void*), void* argument,
                           rocksdb::Env::Priority priority, void* tag, void (*unscheduled)(void*)) {
  auto job = std::make_unique<Job>(
      Job{shared_from_this(), run, argument, unscheduled, priority == rocksdb::Env::Priority::HIGH});
  {
    const std::lock_guard lock(mutex_);
    ++counted_;
  }
  const auto run_it = [](void* scheduled) {
    const std::unique_ptr<Job> own(static_cast<Job*>(scheduled));
    Job::of_this_thread = own.get();
    own->run(own->argument);  // behind it the database may be gone
    Job::of_this_thread = nullptr;
    own->jobs->count_no_more(*own);
  };
  const auto drop_it = [](void* scheduled) {
    const std::unique_ptr<Job> own(static_cast<Job*>(scheduled));
    own->jobs->count_no_more(*own);
    if (own->unscheduled != nullptr) own->unscheduled(own->argument);
  };
  base.Schedule(run_it, job.release(), priority, tag, drop_it);
}

void StorageJobs::count_no_more(Job& job) {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(job.counts, false)) return;
  --counted_;
  fewer_.notify_all();
}

void StorageJobs::begun() {
  Job* const job = Job::of_this_thread;
  if (job != nullptr && !job->is_flush) count_no_more(*job);
}

bool StorageJobs::await_begun(std::chrono::milliseconds time) {
  if (Job::of_this_thread != nullptr) count_no_more(*Job::of_this_thread);
  std::unique_lock lock(mutex_);
  return fewer_.wait_for(lock, time, [this] { return counted_ == 0; });
}

}  // namespace mayfly::engine
