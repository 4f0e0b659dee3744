// A bucket call that a job's Work has in flight: the outcome wakes the job, and the job's next step takes the
// outcome.
//
//   listing_.start(run, [&](auto done) { bucket_->list(prefix, token, run.stop, done); });
//   …
//   if (!listing_.under_way()) …
//   const auto listing = listing_.take();                   // nullopt: still in flight
//
// A directory reports its outcome before start returns; an endpoint reports its outcome from another thread.
// An outcome that arrives after this object was destroyed is dropped.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "compat/buckets/bucket.h"
#include "compat/jobs/work.h"
#include "engine/base/mutex.h"

namespace mayfly::compat::jobs {

template <class T>
class BucketCall {
 public:
  // Requires: no call is in flight.
  template <class Start>
  void start(const Run& run, Start&& start) {
    slot_ = std::make_shared<Slot>();
    std::forward<Start>(start)(buckets::Done<T>([slot = slot_, wake = run.wake](buckets::Outcome<T> outcome) {
      {
        const engine::Lock lock(slot->mutex);
        slot->outcome.emplace(std::move(outcome));
      }
      wake();
    }));
  }
  [[nodiscard]] bool under_way() const { return slot_ != nullptr; }
  // Takes the outcome. Returns nullopt if the outcome has not arrived yet, or if no call is in flight.
  [[nodiscard]] std::optional<buckets::Outcome<T>> take() {
    if (slot_ == nullptr) return std::nullopt;
    std::optional<buckets::Outcome<T>> outcome;
    {
      const engine::Lock lock(slot_->mutex);
      if (!slot_->outcome) return std::nullopt;
      outcome.emplace(*std::move(slot_->outcome));
    }
    slot_.reset();
    return outcome;
  }

 private:
  struct Slot {
    engine::Mutex mutex;
    std::optional<buckets::Outcome<T>> outcome GUARDED_BY(mutex);
  };
  std::shared_ptr<Slot> slot_;
};

}  // namespace mayfly::compat::jobs
