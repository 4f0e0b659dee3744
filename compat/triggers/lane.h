// A poller's share of a shard's records, taken in order: it is done with a batch before it begins the next.
//
// A batch that fails is tried again, after 0.1 s, 0.2 s, … up to 10 s of real time, until the function takes
// it, its retries are used up, or its records are too old; it is split in two first if the mapping says so,
// which uses up no retry. A batch whose first records are reported as done begins anew with the others. What
// is given up goes to the destination, if there is one.
//
// Between its steps it waits for one thing: the answer of a call that is under way, a place for a call, the
// end of a rest, or records. While the memory for records is full (held_records.h), it keeps records only
// with a place for a call, and otherwise what identifies them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/outbound/call.h"
#include "compat/outbound/invoker.h"
#include "compat/triggers/given_up.h"
#include "compat/triggers/lambda_event.h"
#include "compat/triggers/outcome.h"
#include "compat/triggers/poller.h"
#include "engine/mutex.h"
#include "engine/scheduler.h"

namespace mayfly::compat::triggers {

class Lane final : public engine::Task, public std::enable_shared_from_this<Lane> {
 public:
  // `others`: what lanes of other numbers have passed, this one passes over.
  Lane(const std::shared_ptr<Poller>& poller, const LaneName& name, std::string shard_id, Position position,
       std::shared_ptr<const std::vector<StoredPosition>> others);

  // Everything up to `target` is done with, and no window is open.
  [[nodiscard]] bool settled(engine::Sequence target) const { return idle_ && read_to_ > target; }
  [[nodiscard]] bool stuck() const { return stuck_; }
  // The batch that failed and is going to be tried again.
  [[nodiscard]] std::optional<Retrying> retrying() const;
  // Nothing but a change of the function can end the lane's retries: they are unlimited, and the batch has
  // failed `failures_max` times, the last time in a call that was made since the flush of that number began.
  [[nodiscard]] bool failing(std::uint64_t flush) const;

 private:
  struct Range {  // of records that are to be read again
    engine::Sequence first, last;
  };
  struct Batch {
    std::vector<Record> records;
    int invocations = 0, retries = 0;
    Outcome last;                // of the last invocation
    std::optional<Range> range;  // instead of `records`
  };
  struct Closing {  // of a window: the last call for it
    Batch nothing;
    bool early;
  };
  struct Sending {  // to the destination
    std::string body;
    bool ends_batch;  // else it is of records that were taken out of it
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
  Next look(const EventSourceMapping& mapping);     // for what to do, when nothing is under way
  Next attempt(const EventSourceMapping& mapping);  // the first batch of work_
  Next invoke(const EventSourceMapping& mapping, Call::For what, std::vector<Record>& records,
              bool terminated_early);
  Next send(const EventSourceMapping& mapping);

  [[nodiscard]] bool stopped() const { return poller_.stop().stop_requested(); }
  [[nodiscard]] engine::RealTime now() const { return poller_.surroundings().scheduler->now(); }
  // --- without room for its records, a lane lets them go while it waits, and reads them again later
  [[nodiscard]] bool is_full() const { return poller_.surroundings().held_records->full(); }
  [[nodiscard]] std::size_t held_bytes() const;
  void let_go();
  void read_again(const EventSourceMapping& mapping);  // those of work_
  bool take_place();  // for a call. False: the lane is woken when it may ask again
  void give_back_place();
  // The function's, of the page's.
  [[nodiscard]] std::vector<Record> wanted(const EventSourceMapping& mapping,
                                           const engine::StreamPage& page) const;
  // A page, less what is not for the function. `ended`: so has the shard, and all of it is read.
  ReadOn read_page(const EventSourceMapping& mapping);
  [[nodiscard]] bool is_left(const engine::ChangeRecord& record) const;  // for this lane to do
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
  // False: there is no destination.
  bool give_up(const EventSourceMapping& mapping, const Batch& batch, std::string_view condition,
               bool ends_batch);
  void rest(std::chrono::milliseconds time);
  // A flush ends it: each flush once where retries are unlimited, so that a function that was mended is
  // called again at once.
  void rest_before_retry(int retries);
  // Plans the next attempt of a batch, or of a window's last call, that failed. False: its retries are used
  // up.
  bool retry(const EventSourceMapping& mapping, Batch& batch);
  void note_retrying(std::optional<Retrying> retrying, bool unlimited = false, int failures = 0);
  void note_given_up(const EventSourceMapping& mapping, const Batch& batch, std::string_view condition);
  [[nodiscard]] engine::Sequence first_not_done() const;
  void done_up_to(engine::Sequence next);

  const std::weak_ptr<Poller> keeper_;
  Poller& poller_;  // while it is kept
  const LaneName name_;
  const std::string shard_id_;
  const std::shared_ptr<const std::vector<StoredPosition>> others_;
  Position position_;
  engine::Sequence read_next_;    // the first that was not read
  engine::Sequence stored_next_;  // what is stored
  std::deque<Record> ahead_;      // read, and in no batch yet
  std::size_t ahead_bytes_ = 0;
  std::optional<engine::RealTime> batch_deadline_;   // of ahead_, also after it was let go
  std::optional<engine::RealTime> window_deadline_;  // of position_.window
  std::deque<Batch> work_;                           // to be delivered
  std::optional<Closing> closing_;
  std::optional<Sending> sending_;
  std::optional<Call> call_;  // under way
  bool has_place_ = false;    // for a call
  HeldRecords::Share held_;
  std::optional<engine::RealTime> rest_until_;
  bool flush_ends_rest_ = false;
  std::uint64_t call_flush_ = 0;  // the number of the last flush when the last call was made
  std::atomic<bool> idle_{false}, stuck_{false};
  std::atomic<engine::Sequence> read_to_{0};

  static constexpr int failures_max = 3;
  struct Failing {
    Retrying retrying;
    bool unlimited;
    int failures;         // since the batch was last split or got shorter, or less
    std::uint64_t flush;  // call_flush_ of the last
  };
  mutable engine::Mutex failing_mutex_;
  std::optional<Failing> failing_ GUARDED_BY(failing_mutex_);
};

}  // namespace mayfly::compat::triggers
