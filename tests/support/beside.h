// Something that happens beside what a test does, at each place of it in turn: before each lock that it
// takes.
//
//   const int places = at_each_place([](int place) {
//     World world;
//     …
//     Beside change(place, [&] { … });      // in a thread of its own
//     … what is tested …
//     return change.begun;
//   });
#pragma once

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <string_view>
#include <thread>
#include <utility>

#include "engine/interleaving.h"

namespace mayfly::testing {

using namespace engine;

// Begins at the n-th place that the test's thread comes to, in a thread of its own, and goes on until it is
// done or has to wait for the test's.
class Beside final : public Interleaving {
 public:
  Beside(int place, std::function<void()> work) : left_(place), work_(std::move(work)) { use(this); }
  // For work that may fail the test. Assertions belong to the test's thread.
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

// Calls `story` with 1, 2, ... until it says that the place was beyond the last; returns how many there were.
inline int at_each_place(const std::function<bool(int place)>& story) {
  int place = 1;
  while (story(place)) ++place;
  return place - 1;
}

}  // namespace mayfly::testing
