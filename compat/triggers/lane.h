// Delivers one lane's share of a shard's records to the function, in order, one batch at a time.
//
// A failed batch is retried after 0.1 s, 0.2 s, … up to 10 s of real time, until the function accepts it, its
// retries are used up, or its records are too old. If the mapping bisects batches, a failed batch is split in
// two first, which does not count as a retry. If the function reports the first records of a batch as done,
// the rest becomes a new batch. Batches that are given up are sent to the destination, if there is one.
//
// Between steps, a lane waits for one of these: the response to a call in flight, a slot for a call, the end
// of a pause, or records. While the memory for records is full (held_records.h), a lane keeps records only
// while it has a slot for a call; otherwise it keeps only the range of the records.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "compat/lambda/destination_directory.h"
#include "compat/lambda/event_source_mapping.h"
#include "compat/lambda/functions.h"
#include "compat/lambda/given_up.h"
#include "compat/lambda/lambda_event.h"
#include "compat/lambda/outcome.h"
#include "compat/outbound/call.h"
#include "compat/outbound/invoker.h"
#include "compat/triggers/held_records.h"
#include "compat/triggers/position.h"
#include "compat/triggers/tally.h"
#include "engine/base/bell.h"
#include "engine/base/mutex.h"
#include "engine/base/scheduler.h"
#include "engine/database.h"

namespace mayfly::compat::triggers {

// The services that all mappings share.
struct Surroundings {
  engine::Database& database;
  Functions& functions;
  outbound::Invoker& invoker;
  DestinationDirectory& files;
  const std::shared_ptr<HeldRecords>& held_records;
  const std::shared_ptr<engine::Scheduler>& scheduler;
  engine::Bell& progress;  // rung when a lane has nothing left to do, or cannot continue
};

class Lane;

// The mapping that a lane works for (poller.h), as the lane sees it.
class LaneKeeper {
 public:
  virtual ~LaneKeeper() = default;
  [[nodiscard]] virtual const Surroundings& surroundings() const = 0;
  [[nodiscard]] virtual std::shared_ptr<const EventSourceMapping> mapping() const = 0;
  [[nodiscard]] virtual const engine::Stream& stream() const = 0;
  [[nodiscard]] virtual std::stop_token stop() const = 0;
  [[nodiscard]] virtual bool flushing() const = 0;
  [[nodiscard]] virtual std::uint64_t flush_number() const = 0;
  virtual void set_last_result(std::string result) = 0;
  [[nodiscard]] virtual Tally& tally() const = 0;
  // note_given_up() and store() do nothing once the mapping's positions can no longer be stored.
  virtual void note_given_up(GivenUp batch) = 0;
  virtual void store(const LaneName& lane, const Position& position) = 0;
  virtual void lane_ended(const LaneName& lane) = 0;  // its shard has ended, and child shards can begin
  virtual void lane_left(const LaneName& lane) = 0;   // the lane has stopped
  // Takes one of the mapping's slots for calls. Returns false if all slots are taken; the lane is then woken
  // when it can ask again.
  virtual bool take_call(const std::shared_ptr<Lane>& lane) = 0;
  virtual void give_back_call() = 0;
};

class Lane final : public engine::Task, public std::enable_shared_from_this<Lane> {
 public:
  // `others` are the stored positions of lanes from other lane counts. This lane skips the records that those
  // lanes have passed.
  Lane(const std::shared_ptr<LaneKeeper>& keeper, const LaneName& name, std::string shard_id,
       Position position, std::shared_ptr<const std::vector<StoredPosition>> others);

  // Whether everything up to `target` is done and no window is open.
  [[nodiscard]] bool settled(engine::Sequence target) const { return idle_ && read_to_ > target; }
  [[nodiscard]] bool stuck() const { return stuck_; }
  // Returns the failed batch that will be retried, or nullopt.
  [[nodiscard]] std::optional<Retrying> retrying() const;
  // Whether only a change to the function can end the lane's retries. This is true if the retries are
  // unlimited, the batch has failed at least `failures_max` times, and its last failed call was made after
  // the flush with this number began.
  [[nodiscard]] bool failing(std::uint64_t flush) const;

 private:
  struct Range {  // a range of records that are to be read again
    engine::Sequence first, last;
  };
  struct Batch {
    std::vector<Record> records;
    int invocations = 0, retries = 0;
    Outcome last;                // the outcome of the last invocation
    std::optional<Range> range;  // replaces `records` while they are not in memory
  };
  struct Closing {  // the last call for a window
    Batch nothing;
    bool early;
  };
  struct Sending {  // a message to the destination
    std::string body;
    bool ends_batch;  // false: these records were taken out of the batch, which continues
    int tries = 0;
  };
  struct Call {
    enum class For : std::uint8_t { batch, window, destination };
    For what;
    outbound::Call call;
  };
  enum class ReadOn : std::uint8_t { more, at_end, ended };

  Next step() override;
  Next failed(std::string_view why) override;
  Next go_on();
  Next leave();
  Next look(const EventSourceMapping& mapping);     // decides what to do when nothing is in flight
  Next attempt(const EventSourceMapping& mapping);  // delivers the first batch of work_
  Next invoke(const EventSourceMapping& mapping, Call::For what, std::vector<Record>& records,
              bool terminated_early);
  Next send(const EventSourceMapping& mapping);

  [[nodiscard]] bool stopped() const { return keeper_.stop().stop_requested(); }
  [[nodiscard]] engine::RealTime now() const { return keeper_.surroundings().scheduler->now(); }
  // --- while memory is full, a waiting lane drops its records and reads them again later
  [[nodiscard]] bool is_full() const { return keeper_.surroundings().held_records->full(); }
  [[nodiscard]] std::size_t held_bytes() const;
  void let_go();
  void read_again(const EventSourceMapping& mapping);  // reads the dropped records of work_
  bool take_place();  // takes a slot for a call; if false, the lane is woken when it can ask again
  void give_back_place();
  // Returns the page's records that the function is to receive.
  [[nodiscard]] std::vector<Record> wanted(const EventSourceMapping& mapping,
                                           const engine::StreamPage& page) const;
  // Reads a page and drops the records that the function is not to receive. Returns `ended` if the shard has
  // ended and is fully read.
  ReadOn read_page(const EventSourceMapping& mapping);
  [[nodiscard]] bool is_left(const engine::ChangeRecord& record) const;  // whether this lane has yet to
                                                                         // deliver it
  [[nodiscard]] bool batch_is_full(const EventSourceMapping& mapping) const;
  [[nodiscard]] std::optional<engine::Instant> window_start(const EventSourceMapping& mapping,
                                                            const Record& record) const;
  [[nodiscard]] bool window_is_over(const EventSourceMapping& mapping, bool shard_ended) const;
  Batch take_batch(const EventSourceMapping& mapping);

  void start_call(Call::For what, outbound::Invocation invocation);
  void end_call();
  void answered(const EventSourceMapping& mapping, Call::For what, const outbound::Invoker::Answer& answer);
  void batch_answered(const EventSourceMapping& mapping, Outcome outcome);
  void window_answered(const EventSourceMapping& mapping, const Outcome& outcome);
  void sent(const EventSourceMapping& mapping, bool taken);
  void batch_done();
  void drop_aged(const EventSourceMapping& mapping, Batch& batch);
  // Returns false if there is no destination.
  bool give_up(const EventSourceMapping& mapping, const Batch& batch, std::string_view condition,
               bool ends_batch);
  void rest(std::chrono::milliseconds time);
  // A flush ends this pause, so that a repaired function is called again immediately. If retries are
  // unlimited, each flush ends only one such pause.
  void rest_before_retry(int retries);
  // Schedules the next attempt for a failed batch or for a failed last call of a window. Returns false if its
  // retries are used up.
  bool retry(const EventSourceMapping& mapping, Batch& batch);
  void note_retrying(std::optional<Retrying> retrying, bool unlimited = false, int failures = 0);
  void note_given_up(const EventSourceMapping& mapping, const Batch& batch, std::string_view condition);
  [[nodiscard]] engine::Sequence first_not_done() const;
  void done_up_to(engine::Sequence next);

  const std::weak_ptr<LaneKeeper> weak_keeper_;
  LaneKeeper& keeper_;  // valid while weak_keeper_ can be locked
  const LaneName name_;
  const std::string shard_id_;
  const std::shared_ptr<const std::vector<StoredPosition>> others_;
  Position position_;
  engine::Sequence read_next_;    // the first record that has not been read
  engine::Sequence stored_next_;  // the stored position
  std::deque<Record> ahead_;      // read, but not in a batch yet
  std::size_t ahead_bytes_ = 0;
  std::optional<engine::RealTime> batch_deadline_;   // for ahead_; kept when its records are dropped
  std::optional<engine::RealTime> window_deadline_;  // for position_.window
  std::deque<Batch> work_;                           // batches to deliver
  std::optional<Closing> closing_;
  std::optional<Sending> sending_;
  std::optional<Call> call_;  // in flight
  bool has_place_ = false;    // whether the lane holds a slot for a call
  HeldRecords::Share held_;
  std::optional<engine::RealTime> rest_until_;
  bool flush_ends_rest_ = false;
  std::uint64_t call_flush_ = 0;  // number of the latest flush at the time of the last call
  std::atomic<bool> idle_{false}, stuck_{false};
  std::atomic<engine::Sequence> read_to_{0};

  static constexpr int failures_max = 3;
  struct Failing {
    Retrying retrying;
    bool unlimited;
    int failures;         // at least this many failures since the batch was last split or shortened
    std::uint64_t flush;  // call_flush_ of the last failed call
  };
  mutable engine::Mutex failing_mutex_;
  std::optional<Failing> failing_ GUARDED_BY(failing_mutex_);
};

}  // namespace mayfly::compat::triggers
