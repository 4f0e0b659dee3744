// One mapping at work: reads its stream's shards, parents before children, each by as many lanes as its
// parallelization says, and calls the function.
//
// Only a shard with something to deliver has lanes: one that has records, or a window that was left open. The
// poller finds these shards by a search when it begins. Afterwards commits tell it the shard of each record.
// Shards without records cost it nothing, whether they are open or closed.
//
// Delivers each record at least once, and an item's records in order: a lane goes on when the function has
// done with a batch, or when it was given up; only then is its position stored. Nothing polls, and nothing
// that waits holds a thread: lanes are the scheduler's tasks, and are woken when there may be something to
// do.
//
// end() waits for nobody: what is under way is stopped, and who comes after, for the same mapping, begins
// when the last lane has left.
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

#include "compat/outbound/invoker.h"
#include "compat/triggers/destination_directory.h"
#include "compat/triggers/event_source_mapping.h"
#include "compat/triggers/functions.h"
#include "compat/triggers/given_up.h"
#include "compat/triggers/held_records.h"
#include "compat/triggers/position.h"
#include "compat/triggers/shard_tree.h"
#include "compat/triggers/tally.h"
#include "engine/bell.h"
#include "engine/database.h"
#include "engine/mutex.h"
#include "engine/scheduler.h"

namespace mayfly::compat::triggers {

class Lane;

// What all mappings share.
struct Surroundings {
  engine::Database& database;
  Functions& functions;
  outbound::Invoker& invoker;
  DestinationDirectory& files;
  const std::shared_ptr<HeldRecords>& held_records;
  const std::shared_ptr<engine::Scheduler>& scheduler;
  engine::Bell& progress;  // rung when a lane has nothing more to do, or cannot go on
};

// Lets a mapping's positions be stored: closed before they are erased, or others are put in their place.
struct PositionGate {
  engine::Mutex mutex;  // while one is written
  bool open GUARDED_BY(mutex) = true;
};

class Poller final : public engine::Task, public std::enable_shared_from_this<Poller> {
 public:
  // Calls that a mapping has under way, so that its function, if it hangs, leaves the others some.
  static constexpr std::size_t calls_max = 64;
  static constexpr const char* nothing_processed = "No records processed";

  // `shards`: the stream's.
  Poller(const Surroundings& surroundings, EventSourceMapping mapping, engine::Stream stream,
         std::shared_ptr<StreamShards> shards, std::shared_ptr<PositionGate> gate,
         std::shared_ptr<Tally> tally);
  ~Poller() override;
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // Once: its lanes begin when the mapping's last poller, if there was one, has nothing under way any more.
  // Its last result goes on being said until there is a new one.
  void begin_after(std::shared_ptr<Poller> predecessor);

  [[nodiscard]] std::shared_ptr<const EventSourceMapping> mapping() const;
  // Everything but the parallelization can be changed while lanes are at work; they see it at their next
  // batch.
  void change(EventSourceMapping mapping);
  // Without its shards, which change: see shards().
  [[nodiscard]] const engine::Stream& stream() const { return stream_; }
  [[nodiscard]] const std::shared_ptr<StreamShards>& shards() const { return shards_; }
  [[nodiscard]] std::string last_result() const;

  // All lanes look again: the function, the mapping or a flush has changed what they may do.
  void wake();
  // A record was committed. Called by the committing thread, in the order of commits.
  void written(engine::ShardNumber shard, engine::Sequence sequence);

  // Between the two, windows end at once and limited retries follow each other without waiting. Returns the
  // flush's number.
  std::uint64_t begin_flush();
  void end_flush();
  // Ends what is under way; what is not done with is delivered again by the next poller.
  void end();
  // Everything up to `target` was delivered or given up, and no window is open. Requires: every record up to
  // `target` has been told (Database::told).
  [[nodiscard]] bool settled(engine::Sequence target) const;
  // The same, but for lanes that wait for a function that is not registered, and those of which nothing is
  // left but retries of a function that keeps failing, in calls since the flush of that number began.
  [[nodiscard]] bool at_rest(engine::Sequence target, std::uint64_t flush) const;
  // The batch that failed most often, of all lanes, and is going to be tried again.
  [[nodiscard]] std::optional<Retrying> retrying() const;

  struct Load {
    std::size_t lanes = 0;    // that there are
    std::size_t waiting = 0;  // shards with something to deliver whose ancestors are not done
    std::uint64_t looks = 0;  // lanes woken and shards looked at, ever
  };
  [[nodiscard]] Load load() const;

  // --- for its lanes
  const Surroundings& surroundings() const { return surroundings_; }
  [[nodiscard]] std::stop_token stop() const { return stop_.get_token(); }
  [[nodiscard]] bool flushing() const { return flushes_.load() > 0; }
  [[nodiscard]] std::uint64_t flush_number() const { return flush_number_.load(); }
  void set_last_result(std::string result);
  [[nodiscard]] Tally& tally() const { return *tally_; }
  // Both do nothing once the gate is closed.
  void note_given_up(GivenUp batch);
  void store(const LaneName& lane, const Position& position);
  void lane_ended(const LaneName& lane);  // its shard has; children may begin
  void lane_left(const LaneName& lane);   // it has stopped
  // One of `calls_max`. False: the lane is woken when it may ask again.
  bool take_call(const std::shared_ptr<Lane>& lane);
  void give_back_call();

 private:
  // Shards to look at: of records that commits told.
  struct Notes {
    std::set<engine::ShardNumber> shards;
    engine::Sequence first = 0;  // the earliest of these records
    bool lost = false;           // memory ran out for one
    void add(engine::ShardNumber shard, engine::Sequence sequence);
    void add_or_lose(engine::ShardNumber shard, engine::Sequence sequence);
    // Whether none of the records is in [0, target].
    [[nodiscard]] bool are_after(engine::Sequence target) const {
      return !lost && (shards.empty() || first > target);
    }
  };

  Next step() override;
  Next failed(std::string_view why) override;
  void rouse();  // brings a step
  void wake_all_lanes();
  // True: there are some.
  bool wake_lanes_of(engine::ShardNumber shard) REQUIRES(mutex_);
  // Moves what was noted to to_look_at_. False: it is not all.
  bool take_notes();
  void search();  // adds every shard with something to deliver to to_look_at_
  void look_at_noted();
  // Makes the shard's lanes, or those of the ancestors that it waits for.
  void look_at(const ShardTree& tree, engine::ShardNumber number) REQUIRES(mutex_);
  // nullptr: all of its ancestors are done.
  [[nodiscard]] const engine::Shard* waits_for(const ShardTree& tree, const engine::Shard& shard) const
      REQUIRES(mutex_);
  void begin_lanes(const ShardTree& tree, const engine::Shard& shard) REQUIRES(mutex_);
  void release_waiting(engine::ShardNumber ancestor) REQUIRES(mutex_);
  // Where the shard's lanes begin. A lane without anything to deliver, now and later, is done.
  [[nodiscard]] ShardStart start_of(const engine::Shard& shard) const REQUIRES(mutex_);
  [[nodiscard]] bool shard_done(engine::ShardNumber shard) const REQUIRES(mutex_);
  // Erases what is stored of shards that the stream has forgotten, and lets their lanes end.
  void forget_shards(const ShardTree& tree);
  [[nodiscard]] bool has_looked_up_to(engine::Sequence target) const REQUIRES(mutex_);
  void may_begin();  // nothing of its predecessor is under way
  void left();       // tells the successor, if that was the last

  const Surroundings surroundings_;
  const engine::Stream stream_;
  const std::shared_ptr<StreamShards> shards_;
  const std::uint32_t lanes_per_shard_;
  const std::shared_ptr<PositionGate> gate_;
  const std::shared_ptr<Tally> tally_;
  std::stop_source stop_;
  std::atomic<int> flushes_{0};                 // under way
  std::atomic<std::uint64_t> flush_number_{0};  // of the last that began
  std::atomic<bool> woken_{false}, wakes_lanes_{false};

  mutable engine::Mutex notes_mutex_;  // for a few instructions; taken after mutex_, if both are
  Notes notes_ GUARDED_BY(notes_mutex_);

  mutable engine::Mutex mutex_;
  std::shared_ptr<const EventSourceMapping> mapping_ GUARDED_BY(mutex_);
  std::string last_result_ GUARDED_BY(mutex_) = nothing_processed;
  bool may_begin_ GUARDED_BY(mutex_) = false, ended_ GUARDED_BY(mutex_) = false;
  // Every shard with something to deliver has lanes, waits, or is in to_look_at_ or notes_.
  bool searched_ GUARDED_BY(mutex_) = false;
  std::shared_ptr<Poller> predecessor_ GUARDED_BY(mutex_);  // until it has nothing under way
  std::weak_ptr<Poller> successor_ GUARDED_BY(mutex_);
  Notes to_look_at_ GUARDED_BY(mutex_);
  // Shards with something to deliver, by the nearest ancestor that is not done. Each chain of them ends in a
  // shard that has lanes.
  std::map<engine::ShardNumber, std::set<engine::ShardNumber>> waiting_ GUARDED_BY(mutex_);
  bool forgets_ GUARDED_BY(mutex_) = true;  // something stored may be of a forgotten shard
  std::uint64_t looks_ GUARDED_BY(mutex_) = 0;
  std::set<LaneName> done_ GUARDED_BY(mutex_);
  std::map<LaneName, std::shared_ptr<Lane>> running_ GUARDED_BY(mutex_);
  std::size_t calls_ GUARDED_BY(mutex_) = 0;
  std::set<std::weak_ptr<Lane>, std::owner_less<>> wait_for_call_ GUARDED_BY(mutex_);

  // For steps alone.
  bool loaded_ = false;         // start_ and stored_ are what is stored
  engine::Sequence start_ = 0;  // no record before it is delivered
  std::map<engine::ShardNumber, std::vector<StoredPosition>> stored_;  // by shard: where lanes begin
  std::size_t forgotten_ = 0;                                          // by the last forget_shards
};

}  // namespace mayfly::compat::triggers
