// Runs a test once for each place in the tested operation, with concurrent work at that place. There is a
// place before each lock that the operation takes.
//
//   const int places = at_each_place([](int place) {
//     World world;
//     …
//     Beside change(place, [&] { … });      // runs on another thread at that place
//     … the tested operation …
//     return change.begun;
//   });
#pragma once

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <string_view>
#include <thread>
#include <utility>

#include "engine/base/interleaving.h"

namespace mayfly::testing {

using namespace engine;

// Starts the work on another thread when the test's thread reaches its n-th place. The test's thread
// continues when the work has finished or waits for a lock.
class Beside final : public Interleaving {
 public:
  Beside(int place, std::function<void()> work) : left_(place), work_(std::move(work)) { use(this); }
  // For work that can fail the test: it returns false instead of using assertions, which only the test's
  // thread may use.
  Beside(int place, std::function<bool()> work)
      : Beside(place, std::function<void()>([this, work = std::move(work)] { failed_ = !work(); })) {}
  ~Beside() {
    if (thread_.joinable()) thread_.join();
    use(nullptr);
    CHECK_FALSE(failed_);
  }
  void reached(std::string_view) override {
    if (std::this_thread::get_id() != first_ || --left_ != 0) return;
    begun = true;
    thread_ = std::thread([this] {
      work_();
      stop();
    });
    stopped_.wait(false);
  }
  bool blocked() override {
    if (std::this_thread::get_id() != first_) stop();
    std::this_thread::yield();
    return true;
  }
  bool begun = false;

 private:
  void stop() {
    stopped_ = true;
    stopped_.notify_all();
  }

  int left_;
  const std::function<void()> work_;
  const std::thread::id first_ = std::this_thread::get_id();
  std::thread thread_;
  std::atomic<bool> stopped_{false};
  bool failed_ = false;
};

// Calls `story` with 1, 2, … until it returns false because the place was not reached. Returns the number of
// places.
inline int at_each_place(const std::function<bool(int place)>& story) {
  int place = 1;
  while (story(place)) ++place;
  return place - 1;
}

}  // namespace mayfly::testing
