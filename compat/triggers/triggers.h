// Stores the event source mappings of all accounts and runs a poller for each enabled one.
//
//   Triggers triggers(database, {.invoker = invoker,
//                                .functions = {{"reminder", {*Url::parse("http://127.0.0.1:9000/")}}}},
//                     *DestinationDirectory::open("/failed"));
//   TRY(auto created, triggers.create(mapping));
//   auto settled = triggers.settle("000000000000", 10s);
//   settled.unfinished, settled.given_up                     // both empty: every record reached its function
//
// Mappings and their positions are stored: a Triggers object on the same storage continues where the previous
// one ended. Thread-safe. Only settle(), while_stopped() and reset() wait for lanes or functions.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compat/lambda/destination_directory.h"
#include "compat/lambda/event_source_mapping.h"
#include "compat/lambda/functions.h"
#include "compat/lambda/trigger_options.h"
#include "compat/outbound/invoker.h"
#include "compat/triggers/event_calls.h"
#include "compat/triggers/held_records.h"
#include "compat/triggers/poller.h"
#include "compat/wire/error.h"
#include "engine/base/bell.h"
#include "engine/base/mutex.h"
#include "engine/base/scheduler.h"
#include "engine/database.h"
#include "engine/tables/change_feed.h"

namespace mayfly::compat::triggers {

class Triggers {
 public:
  static constexpr std::chrono::seconds settle_time_default{30};

  Triggers(engine::Database& database, TriggerOptions options, std::unique_ptr<DestinationDirectory> files);
  ~Triggers();
  Triggers(const Triggers&) = delete;
  Triggers& operator=(const Triggers&) = delete;

  [[nodiscard]] Functions& functions() { return functions_; }
  [[nodiscard]] outbound::Invoker& invoker() { return *invoker_; }
  [[nodiscard]] engine::Database& database() { return database_; }
  [[nodiscard]] std::size_t filters_max() const { return filters_max_; }  // per mapping

  // Calls a function without waiting for it.
  Result<void> call_later(outbound::Invocation invocation) { return event_calls_.add(std::move(invocation)); }

  // --- mappings. `state` is the state that the response to the call shows: "Creating", later "Enabled".
  struct View {
    EventSourceMapping mapping;
    std::string state, last_result;
    Tally::Counts counts;
    std::optional<Retrying> retrying{};
  };
  // Requires: `mapping` is complete except for its UUID. Errors: "Stream not found: arn…"; a conflict with a
  // mapping that has the same stream and function; a destination that is not allowed; no thread can be
  // started; the limit on mappings is reached; not enough memory.
  Result<View> create(EventSourceMapping mapping);
  [[nodiscard]] std::optional<View> find(const engine::Scope& scope, std::string_view uuid) const;
  [[nodiscard]] std::vector<View> list(const engine::Scope& scope) const;  // sorted by UUID
  [[nodiscard]] std::size_t count() const;                                 // mappings of all accounts
  // `change` edits a copy. Error if the mapping does not exist: "The resource you requested does not exist."
  Result<View> update(const engine::Scope& scope, std::string_view uuid,
                      const std::function<Result<void>(EventSourceMapping&)>& change);
  Result<View> remove(const engine::Scope& scope, std::string_view uuid);
  // Whether there is memory to add something: see memory_room.h. The error is TooManyRequestsException.
  [[nodiscard]] Result<void> check_room() const;

  // Waits until the account's mappings have delivered, or given up, every record that is in their streams
  // now. Batching and tumbling windows end immediately, and batches with limited retries are retried without
  // pauses. A batch with unlimited retries is tried once more immediately. settle() does not wait for such a
  // batch after it has failed three times, nor for a function that is not registered. Returns after at most
  // `time_max` of real time, or when `stop` is requested.
  struct Unfinished {
    std::shared_ptr<const EventSourceMapping> mapping;
    std::string reason;
    bool registered;  // whether the function is registered
    std::optional<Retrying> retrying;
  };
  struct NewlyGivenUp {
    std::string uuid, event_source_arn;
    GivenUp batch;
  };
  struct Settled {
    std::vector<Unfinished> unfinished;
    // Batches given up since the account's last settle() returned; concurrent calls return the same batches.
    // The batches are grouped by mapping, oldest first, and limited to `given_up_max` in total.
    std::vector<NewlyGivenUp> given_up;
    std::size_t given_up_left_out = 0;  // how many batches are not in given_up
  };
  static constexpr std::size_t given_up_max = 100;
  Settled settle(std::string_view account, std::chrono::milliseconds time_max = settle_time_default,
                 const std::stop_token& stop = {});

  // Calls `replace`, which replaces the account's streams and positions with those that a snapshot has under
  // the same names. No lane reads the streams meanwhile, and the account's mappings then continue from the
  // new positions. A mapping that the snapshot does not contain continues from its current position in each
  // shard that still exists.
  void while_stopped(std::string_view account, const std::function<void()>& replace);
  // Returns the total load of the account's enabled mappings, for tests.
  [[nodiscard]] Poller::Load load(std::string_view account) const;
  [[nodiscard]] const HeldRecords& held_records() const { return *held_records_; }

  // Removes the account's mappings, then calls `empty`. Registered functions remain, because they are outside
  // the account's state.
  void reset(std::string_view account, const std::function<void()>& empty);

 private:
  using Name = std::pair<engine::Scope, std::string>;  // UUID
  struct Entry {
    EventSourceMapping mapping;
    std::shared_ptr<Poller> poller;  // empty: the mapping is disabled, or its stream was deleted
    std::shared_ptr<Poller> last;    // the previous poller, whose lanes may not have left yet
    std::shared_ptr<PositionGate> gate = std::make_shared<PositionGate>();
    std::shared_ptr<Tally> tally = std::make_shared<Tally>();
  };
  class Hold;

  using Entries = std::map<Name, Entry>;
  template <typename Iterator>
  struct Range {
    Iterator first, last;
    [[nodiscard]] Iterator begin() const { return first; }
    [[nodiscard]] Iterator end() const { return last; }
  };
  template <typename Some>
  static auto range_of(Some& entries, std::string_view account);
  // Returns the account's entries.
  [[nodiscard]] Range<Entries::iterator> entries_of(std::string_view account) REQUIRES(mutex_);
  [[nodiscard]] Range<Entries::const_iterator> entries_of(std::string_view account) const REQUIRES(mutex_);
  void load() REQUIRES(mutex_);
  // Returns an object that is shared with other pollers of the same stream.
  std::shared_ptr<StreamShards> shards_of(const engine::Stream& stream);
  void start(Entry& entry) REQUIRES(mutex_);  // creates the poller if there should be one
  void stop(Entry& entry) REQUIRES(mutex_);
  static void close_gate(Entry& entry);             // earlier pollers can store nothing afterwards
  void erase(const Entry& entry) REQUIRES(mutex_);  // erases the entry's stored state
  // carry_over() restores the positions of a mapping that a snapshot does not contain. forget_strangers()
  // erases those of a snapshot's positions whose mappings no longer exist.
  void carry_over(const EventSourceMapping& mapping, const StoredProgress& progress) REQUIRES(mutex_);
  void forget_strangers(std::string_view account) REQUIRES(mutex_);
  Result<void> check_destination(const EventSourceMapping& mapping) const;
  Result<void> check_threads();    // whether threads for lanes can be started
  void listen() REQUIRES(mutex_);  // subscribes pollers to commits on their tables
  static View view(const Entry& entry);
  using Marks = std::map<std::shared_ptr<Tally>, GivenUpLog::Mark>;
  [[nodiscard]] Marks reported(std::string_view account) const;
  // Adds the batches given up since `marks`. With `report`, the next settle() does not return them again.
  void collect_given_up(std::string_view account, const Marks& marks, bool report, Settled& settled) const;

  engine::Database& database_;
  const std::shared_ptr<outbound::Invoker> invoker_;
  const std::unique_ptr<DestinationDirectory> files_;
  const std::size_t mappings_max_, filters_max_;
  const std::shared_ptr<HeldRecords> held_records_;
  static constexpr std::size_t threads_max = 4;  // enough, because a step never waits: it reads, filters,
                                                 // stores
  const std::shared_ptr<engine::Scheduler> scheduler_;
  EventCalls event_calls_;
  engine::Bell progress_;
  engine::Mutex pollers_mutex_;  // held for a few instructions; the committing thread acquires it
  std::multimap<engine::TableId, Poller*> pollers_ GUARDED_BY(pollers_mutex_);
  Functions functions_;

  mutable engine::Mutex mutex_;
  Entries entries_ GUARDED_BY(mutex_);
  std::multiset<std::string, std::less<>> held_ GUARDED_BY(mutex_);  // accounts whose data is being replaced
  engine::ChangeFeed::Subscription subscription_ GUARDED_BY(mutex_);
  bool listening_ GUARDED_BY(mutex_) = false;
};

}  // namespace mayfly::compat::triggers
