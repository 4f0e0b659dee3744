// Runs one mapping: reads the shards of its stream, parents before children, and calls the function. The
// mapping's parallelization is the number of lanes per shard.
//
// A shard has lanes only while it has something to deliver: records or an open window. The poller searches
// for such shards when it begins. Afterwards, commits report the shard of each record. Shards without records
// cost nothing, whether they are open or closed.
//
// Each record is delivered at least once, and the records of an item are delivered in order: a lane
// continues, and stores its position, only when the function has accepted a batch or the batch was given up.
// Nothing polls, and waiting occupies no thread: lanes are tasks of the scheduler and are woken when there
// may be work.
//
// end() does not wait. It stops the calls in flight; the next poller for the same mapping begins when the
// last lane has left.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "compat/lambda/event_source_mapping.h"
#include "compat/triggers/lane.h"
#include "compat/triggers/position.h"
#include "compat/triggers/shard_tree.h"
#include "engine/base/mutex.h"
#include "engine/base/scheduler.h"
#include "engine/database.h"

namespace mayfly::compat::triggers {

// Controls whether a mapping's positions can be stored. The gate closes before the positions are erased or
// replaced.
struct PositionGate {
  engine::Mutex mutex;  // held while a position is written
  bool open GUARDED_BY(mutex) = true;
};

class Poller final : public engine::Task, public LaneKeeper, public std::enable_shared_from_this<Poller> {
 public:
  // Limits a mapping's calls in flight, so that a hanging function leaves capacity for other mappings.
  static constexpr std::size_t calls_max = 64;
  static constexpr const char* nothing_processed = "No records processed";

  // `shards` are the shards of `stream`.
  Poller(const Surroundings& surroundings, EventSourceMapping mapping, engine::Stream stream,
         std::shared_ptr<StreamShards> shards, std::shared_ptr<PositionGate> gate,
         std::shared_ptr<Tally> tally);
  ~Poller() override;
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // Starts the poller. Its lanes begin when the mapping's previous poller, if any, has nothing in flight.
  // Until there is a new result, last_result() returns the predecessor's result. Requires: called once.
  void begin_after(std::shared_ptr<Poller> predecessor);

  [[nodiscard]] std::shared_ptr<const EventSourceMapping> mapping() const override;
  // Changes the mapping, except its parallelization. Running lanes apply the change from their next batch on.
  void change(EventSourceMapping mapping);
  // The returned stream does not include the current shards, because they change; see shards().
  [[nodiscard]] const engine::Stream& stream() const override { return stream_; }
  [[nodiscard]] const std::shared_ptr<StreamShards>& shards() const { return shards_; }
  [[nodiscard]] std::string last_result() const;

  // Makes all lanes check again, because the function, the mapping or a flush has changed what they can do.
  void wake();
  // Reports a committed record. Called by the committing thread, in commit order.
  void written(engine::ShardNumber shard, engine::Sequence sequence);

  // Between begin_flush() and end_flush(), windows end immediately, and batches with limited retries are
  // retried without pauses. begin_flush() returns the flush's number.
  std::uint64_t begin_flush();
  void end_flush();
  // Stops the calls in flight. The next poller delivers unfinished batches again.
  void end();
  // Whether everything up to `target` was delivered or given up, and no window is open. Requires: every
  // record up to `target` has been reported (ChangeFeed::told).
  [[nodiscard]] bool settled(engine::Sequence target) const;
  // Like settled(), but ignores two kinds of lanes: those that wait for an unregistered function, and those
  // that only retry a function that keeps failing, as of the flush with that number (Lane::failing).
  [[nodiscard]] bool at_rest(engine::Sequence target, std::uint64_t flush) const;
  // Returns the batch with the most failed attempts among the batches that lanes are retrying.
  [[nodiscard]] std::optional<Retrying> retrying() const;

  struct Load {
    std::size_t lanes = 0;    // existing lanes
    std::size_t waiting = 0;  // shards with something to deliver whose ancestors are not done
    std::uint64_t looks = 0;  // lanes woken and shards examined so far
  };
  [[nodiscard]] Load load() const;

  // --- for its lanes
  [[nodiscard]] const Surroundings& surroundings() const override { return surroundings_; }
  [[nodiscard]] std::stop_token stop() const override { return stop_.get_token(); }
  [[nodiscard]] bool flushing() const override { return flushes_.load() > 0; }
  [[nodiscard]] std::uint64_t flush_number() const override { return flush_number_.load(); }
  void set_last_result(std::string result) override;
  [[nodiscard]] Tally& tally() const override { return *tally_; }
  void note_given_up(GivenUp batch) override;
  void store(const LaneName& lane, const Position& position) override;
  void lane_ended(const LaneName& lane) override;
  void lane_left(const LaneName& lane) override;
  bool take_call(const std::shared_ptr<Lane>& lane) override;
  void give_back_call() override;

 private:
  // Shards to examine, from the records that commits reported.
  struct Notes {
    std::set<engine::ShardNumber> shards;
    engine::Sequence first = 0;  // the earliest of these records
    bool lost = false;           // memory ran out, so a shard was not noted
    void add(engine::ShardNumber shard, engine::Sequence sequence);
    void add_or_lose(engine::ShardNumber shard, engine::Sequence sequence);
    // Whether all noted records are after `target`.
    [[nodiscard]] bool are_after(engine::Sequence target) const {
      return !lost && (shards.empty() || first > target);
    }
  };

  Next step() override;
  Next failed(std::string_view why) override;
  void rouse();  // schedules a step
  void wake_all_lanes();
  // Returns whether the shard has lanes.
  bool wake_lanes_of(engine::ShardNumber shard) REQUIRES(mutex_);
  // Moves the reported shards to to_look_at_. Returns false if some were lost.
  bool take_notes();
  void search();  // adds every shard with something to deliver to to_look_at_
  void look_at_noted();
  // Creates the lanes of the shard, or of the ancestors that it waits for.
  void look_at(const ShardTree& tree, engine::ShardNumber number) REQUIRES(mutex_);
  // Returns the ancestor that the shard waits for; nullptr if all its ancestors are done.
  [[nodiscard]] const engine::Shard* waits_for(const ShardTree& tree, const engine::Shard& shard) const
      REQUIRES(mutex_);
  void begin_lanes(const ShardTree& tree, const engine::Shard& shard) REQUIRES(mutex_);
  void release_waiting(engine::ShardNumber ancestor) REQUIRES(mutex_);
  // Returns where the shard's lanes begin. A lane that will never have anything to deliver counts as done.
  [[nodiscard]] ShardStart start_of(const engine::Shard& shard) const REQUIRES(mutex_);
  [[nodiscard]] bool shard_done(engine::ShardNumber shard) const REQUIRES(mutex_);
  // Erases stored positions in shards that the stream has dropped, and lets the lanes of these shards end.
  void forget_shards(const ShardTree& tree);
  [[nodiscard]] bool has_looked_up_to(engine::Sequence target) const REQUIRES(mutex_);
  void may_begin();  // called when the predecessor has nothing in flight
  void left();       // notifies the successor if the last lane has left

  const Surroundings surroundings_;
  const engine::Stream stream_;
  const std::shared_ptr<StreamShards> shards_;
  const std::uint32_t lanes_per_shard_;
  const std::shared_ptr<PositionGate> gate_;
  const std::shared_ptr<Tally> tally_;
  std::stop_source stop_;
  std::atomic<int> flushes_{0};                 // flushes in progress
  std::atomic<std::uint64_t> flush_number_{0};  // number of the latest flush
  std::atomic<bool> woken_{false}, wakes_lanes_{false};

  mutable engine::Mutex notes_mutex_;  // held for a few instructions; acquired after mutex_ if both are
                                       // needed
  Notes notes_ GUARDED_BY(notes_mutex_);

  mutable engine::Mutex mutex_;
  std::shared_ptr<const EventSourceMapping> mapping_ GUARDED_BY(mutex_);
  std::string last_result_ GUARDED_BY(mutex_) = nothing_processed;
  bool may_begin_ GUARDED_BY(mutex_) = false, ended_ GUARDED_BY(mutex_) = false;
  // True: every shard with something to deliver has lanes, waits, or is in to_look_at_ or notes_.
  bool searched_ GUARDED_BY(mutex_) = false;
  std::shared_ptr<Poller> predecessor_ GUARDED_BY(mutex_);  // kept until it has nothing in flight
  std::weak_ptr<Poller> successor_ GUARDED_BY(mutex_);
  Notes to_look_at_ GUARDED_BY(mutex_);
  // Shards with something to deliver, by the nearest ancestor that is not done. Each chain of ancestors ends
  // in a shard that has lanes.
  std::map<engine::ShardNumber, std::set<engine::ShardNumber>> waiting_ GUARDED_BY(mutex_);
  bool forgets_ GUARDED_BY(mutex_) = true;  // stored positions may be in a shard that the stream has dropped
  std::uint64_t looks_ GUARDED_BY(mutex_) = 0;
  std::set<LaneName> done_ GUARDED_BY(mutex_);
  std::map<LaneName, std::shared_ptr<Lane>> running_ GUARDED_BY(mutex_);
  std::size_t calls_ GUARDED_BY(mutex_) = 0;
  std::set<std::weak_ptr<Lane>, std::owner_less<>> wait_for_call_ GUARDED_BY(mutex_);

  // Used only by steps.
  bool loaded_ = false;         // whether start_ and stored_ are loaded
  engine::Sequence start_ = 0;  // no earlier record is delivered
  std::map<engine::ShardNumber, std::vector<StoredPosition>> stored_;  // by shard: where lanes begin
  std::size_t forgotten_ = 0;  // number of dropped shards at the last forget_shards()
};

}  // namespace mayfly::compat::triggers
