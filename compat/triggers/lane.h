// One thread of a poller: takes its share of a shard's records in order, and is done with a batch before the next.
//
// A batch that fails is tried again, after 0.1 s, 0.2 s, … up to 10 s of real time, until the function takes it,
// its retries are used up, or its records are too old; it is split in two first if the mapping says so, which
// uses up no retry. What is given up goes to the destination, if there is one.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "compat/triggers/lambda_event.h"
#include "compat/triggers/outcome.h"
#include "compat/triggers/poller.h"

namespace mayfly::compat::triggers {

class Lane {
 public:
  Lane(Poller& poller, const LaneName& name, std::string shard_id, Position position);

  void run();  // until the poller stops, or the shard ends

  // Everything up to `target` is done with, and no window is open.
  [[nodiscard]] bool settled(engine::Sequence target) const { return idle_ && read_to_ > target; }
  [[nodiscard]] bool stuck() const { return stuck_; }

 private:
  struct Batch {
    std::vector<Record> records;
    int invocations = 0, retries = 0;
    Outcome last;  // of the last invocation
  };

  [[nodiscard]] bool stopped() const { return poller_.stop().stop_requested(); }
  // Reads on until a batch can be filled. True: the shard has ended, and all of it is read.
  bool read_ahead(const EventSourceMapping& mapping);
  [[nodiscard]] bool is_mine(const engine::ChangeRecord& record) const;
  [[nodiscard]] bool batch_is_full(const EventSourceMapping& mapping) const;
  [[nodiscard]] std::optional<engine::Instant> window_start(const EventSourceMapping& mapping, const Record& record) const;
  [[nodiscard]] bool window_is_over(const EventSourceMapping& mapping, bool shard_ended) const;
  Batch take_batch(const EventSourceMapping& mapping);

  void deliver(Batch batch);
  // One call of the function and what follows from it. `work` begins with the batch that is called for, and with
  // what is left of it afterwards.
  void attempt(std::deque<Batch>& work);
  void close_window(const EventSourceMapping& mapping, bool terminated_early);
  // Nothing: the function is not registered, or the poller stopped.
  std::optional<Outcome> invoke(const EventSourceMapping& mapping, Batch& batch, bool final, bool terminated_early);
  void drop_aged(const EventSourceMapping& mapping, Batch& batch);
  void give_up(const EventSourceMapping& mapping, const Batch& batch, std::string_view condition);
  bool send(const EventSourceMapping& mapping, const std::string& body);
  void wait_before_retry(const EventSourceMapping& mapping, int retries);
  void done_up_to(engine::Sequence next);

  Poller& poller_;
  const LaneName name_;
  const std::string shard_id_;
  Position position_;
  engine::Sequence read_next_;    // the first that was not read
  engine::Sequence stored_next_;  // what is stored
  std::deque<Record> ahead_;      // read, and in no batch yet
  std::size_t ahead_bytes_ = 0;
  std::optional<RealTime> batch_deadline_;   // of what is in ahead_
  std::optional<RealTime> window_deadline_;  // of position_.window
  bool interrupted_ = false;  // the poller stopped in the middle of a batch
  std::atomic<bool> idle_{false}, stuck_{false};
  std::atomic<engine::Sequence> read_to_{0};
};

}  // namespace mayfly::compat::triggers
