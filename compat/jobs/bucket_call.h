// A bucket's call that a work has under way: its outcome wakes the job, whose next step takes it.
//
//   listing_.start(run, [&](auto done) { bucket_->list(prefix, token, run.stop, done); });
//   …
//   if (!listing_.under_way()) …
//   const auto listing = listing_.take();                   // nothing: it has not come yet
//
// A directory has told its outcome when start returns; an endpoint tells it from another thread. What comes
// after the call was let go is dropped.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "compat/buckets/bucket.h"
#include "compat/jobs/work.h"
#include "engine/mutex.h"

namespace mayfly::compat::jobs {

template <class T>
class BucketCall {
 public:
  // Requires: none is under way.
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
  // The outcome, once. Nothing: it has not come yet, or none is under way.
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
