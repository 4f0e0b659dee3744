// One mapping at work: reads its stream's shards, parents before children, each by as many lanes as its
// parallelization says, and calls the function.
//
// Delivers each record at least once, and an item's records in order: a lane goes on when the function has done
// with a batch, or when it was given up; only then is its position stored. Nothing polls: lanes wait for signal().
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "compat/triggers/event_source_mapping.h"
#include "compat/triggers/functions.h"
#include "compat/triggers/invoker.h"
#include "compat/triggers/position.h"
#include "compat/triggers/shards.h"
#include "compat/triggers/signal.h"
#include "engine/database.h"
#include "engine/guarded_by.h"

namespace mayfly::compat::triggers {

class Lane;

// What all mappings share.
struct Surroundings {
  engine::Database& database;
  Functions& functions;
  Invoker& invoker;
  Signal& progress;  // raised when a lane has nothing more to do, or cannot go on
};

class Poller {
 public:
  Poller(const Surroundings& surroundings, EventSourceMapping mapping, const engine::Stream& stream);
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  [[nodiscard]] std::shared_ptr<const EventSourceMapping> mapping() const;
  // Everything but the parallelization can be changed while lanes are at work; they see it at their next batch.
  void change(EventSourceMapping mapping);
  [[nodiscard]] const engine::Stream& stream() const { return stream_; }
  [[nodiscard]] std::string last_result() const;

  // There may be something new to read, or another reason to look again.
  Signal& signal() { return signal_; }

  // Between the two, windows end at once and retries that are counted wait for nothing.
  void begin_flush();
  void end_flush();
  // Ends what is under way; what is not done with is delivered again by the next poller. Not from a lane.
  void end();
  // Everything up to `target` was delivered or given up, and no window is open; or nothing will be any more.
  [[nodiscard]] bool settled(engine::Sequence target) const;
  // Some lane is not settled, and all such wait for a function that is not registered.
  [[nodiscard]] bool stuck(engine::Sequence target) const;

  // --- for its lanes
  const Surroundings& surroundings() const { return surroundings_; }
  [[nodiscard]] std::stop_token stop() const { return stop_.get_token(); }
  [[nodiscard]] bool flushing() const { return flushes_.load() > 0; }
  void set_last_result(std::string result);
  void store(const LaneName& lane, const Position& position);
  void lane_ended(const LaneName& lane);  // its shard has; children may begin

 private:
  struct Running;
  void load_positions();
  void start_ready();  // lanes of all shards whose parents are done
  bool shard_done(std::uint32_t shard) const;  // holds mutex_

  const Surroundings surroundings_;
  const engine::Stream stream_;
  const std::uint32_t lanes_per_shard_;
  Signal signal_;
  std::stop_source stop_;
  std::atomic<int> flushes_{0};

  mutable std::mutex mutex_;
  std::shared_ptr<const EventSourceMapping> mapping_ GUARDED_BY(mutex_);
  std::string last_result_ GUARDED_BY(mutex_) = "No records processed";
  std::map<LaneName, Position> positions_ GUARDED_BY(mutex_);  // where lanes begin
  std::set<LaneName> ended_ GUARDED_BY(mutex_);
  std::map<LaneName, std::unique_ptr<Running>> running_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::compat::triggers
