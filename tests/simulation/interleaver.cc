#include "tests/simulation/interleaver.h"

#include <thread>
#include <utility>

namespace mayfly::testing {
namespace {

// When all threads wait, all of them try again, because some may wait for locks that have been released
// since. After rounds_in_vain_max rounds, threads that wait with a time-out give up. After rounds_max rounds,
// the interleaver reports a deadlock.
constexpr int rounds_in_vain_max = 3;
constexpr int rounds_max = 50;

}  // namespace

Interleaver::Interleaver(std::uint64_t seed, unsigned switches_one_in, Watcher watcher,
                         std::function<void()> on_deadlock)
    : random_(seed),
      switches_one_in_(switches_one_in),
      watcher_(std::move(watcher)),
      on_deadlock_(std::move(on_deadlock)) {
  use(this);
}

Interleaver::~Interleaver() { use(nullptr); }

void Interleaver::run(std::vector<std::function<void()>> threads) {
  threads_.clear();
  for (std::size_t i = 0; i < threads.size(); ++i) threads_.push_back(std::make_unique<Thread>());
  std::vector<std::thread> running;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    running.emplace_back([this, i, work = std::move(threads[i])] {
      self_ = static_cast<int>(i);
      threads_[i]->turn.acquire();
      work();
      threads_[i]->lives = false;
      progressed();
      const std::vector<int> others = candidates(/*waiting_too=*/true);
      self_ = -1;
      others.empty() ? all_returned_.release()
                     : threads_[static_cast<std::size_t>(others[random_() % others.size()])]->turn.release();
    });
  }
  threads_[random_() % threads_.size()]->turn.release();
  all_returned_.acquire();
  for (std::thread& thread : running) thread.join();
}

std::vector<int> Interleaver::candidates(bool waiting_too) const {
  std::vector<int> found;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (threads_[i]->lives && (waiting_too || !threads_[i]->waits)) found.push_back(static_cast<int>(i));
  }
  return found;
}

void Interleaver::progressed() {
  rounds_in_vain_ = 0;
  for (const auto& thread : threads_) thread->waits = false;
}

void Interleaver::hand_over(int next) {
  if (next == self_) return;
  ++switches_;
  Thread& mine = *threads_[static_cast<std::size_t>(self_)];
  threads_[static_cast<std::size_t>(next)]->turn.release();
  mine.turn.acquire();
}

void Interleaver::reached(std::string_view place) {
  if (watcher_) watcher_(place);
  if (self_ < 0) return;
  progressed();
  if (Alone::here() || random_() % switches_one_in_ != 0) return;
  const std::vector<int> all = candidates(/*waiting_too=*/true);
  hand_over(all[random_() % all.size()]);
}

bool Interleaver::blocked() {
  if (self_ < 0 || Alone::here()) return false;
  threads_[static_cast<std::size_t>(self_)]->waits = true;
  std::vector<int> others = candidates(/*waiting_too=*/false);
  if (others.empty()) {
    if (++rounds_in_vain_ > rounds_max) on_deadlock_();
    for (const auto& thread : threads_) thread->waits = false;
    others = candidates(/*waiting_too=*/false);
  }
  hand_over(others[random_() % others.size()]);
  return rounds_in_vain_ <= rounds_in_vain_max;
}

}  // namespace mayfly::testing
