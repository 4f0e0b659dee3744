// Sends the changes to tables to Kinesis data streams, and stores which tables have such destinations.
//
// Each change to a table with an active destination becomes one record. PutRecords sends the records to the
// endpoint in commit order, each at least once: a record that Kinesis rejects is sent again after 0.1 s, 0.2
// s, … up to 10 s of the scheduler's time. Waiting changes are kept in memory, at most `waiting_max` changes
// and the options' `waiting_bytes_max` bytes. Beyond these limits, the oldest changes are dropped, and
// dropped() counts them. Waiting changes are lost when Mayfly exits. Waiting occupies no thread: one task
// sends one request after another.
//
// Destinations are stored as part of their account's state (engine/storage/documents.h): restoring a snapshot
// brings back its destinations, and a reset removes all destinations. In both cases, changes that are already
// waiting are still sent. Thread-safe.
//
//   Destinations destinations(database, {.invoker = invoker,
//                                       .endpoint = *outbound::Url::parse("http://127.0.0.1:4567/")});
//   destinations.change(*table.description(), arn, [](Destination destination) -> Result<Destination> {
//     destination.active = true;
//     return destination;
//   });
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "compat/kinesis/kinesis_options.h"
#include "compat/outbound/invoker.h"
#include "compat/wire/error.h"
#include "engine/base/bell.h"
#include "engine/base/mutex.h"
#include "engine/base/random.h"
#include "engine/base/scheduler.h"
#include "engine/database.h"
#include "engine/storage/documents.h"
#include "engine/tables/change_feed.h"

namespace mayfly::compat::kinesis {

struct Destination {
  std::string table, table_uuid, stream_arn;
  bool active = false;
  std::optional<bool> microseconds = {};  // ApproximateCreationDateTimePrecision; nullopt: never set
};

class Destinations {
 public:
  static constexpr std::size_t waiting_max = 100'000;

  Destinations(engine::Database& database, KinesisOptions options);
  ~Destinations();
  Destinations(const Destinations&) = delete;
  Destinations& operator=(const Destinations&) = delete;

  // Returns a table's destinations, active and inactive.
  [[nodiscard]] std::vector<Destination> list(const engine::Table& table) const;
  // Replaces the table's destination for this stream with the one that `decide` returns; if `decide` fails,
  // nothing changes. If there is no such destination, `decide` receives an inactive one without a precision.
  // Calls to change() and forget() run one after another: the state that `decide` sees, including the table's
  // existence, does not change until its result is in effect. Error: InternalServerError if no thread for
  // sending records can be started. Requires: the account is not being replaced (documents.h). This is always
  // so within a request.
  using Decide = std::function<Result<Destination>(Destination before)>;
  Result<Destination> change(const engine::Table& table, std::string_view stream_arn, const Decide& decide);
  // Removes the destinations of a deleted table. The table's changes that are already waiting are still sent.
  void forget(const engine::Table& table);
  // Waits until everything committed so far has been accepted. Returns false on time-out.
  bool settle(engine::RealTime deadline, const std::stop_token& stop = {});
  // Returns the number of changes that were dropped because too many were waiting.
  [[nodiscard]] std::uint64_t dropped() const;

 private:
  // A waiting change. It is kept in the form in which it was reported. It is rendered into a Kinesis record
  // later, once, outside the commit.
  struct Waiting {
    Waiting(const Destination& destination, const engine::Change& change)
        : stream_arn(destination.stream_arn),
          microseconds(destination.microseconds.value_or(false)),
          table(change.table),
          change(change.kept()) {}
    void render(engine::Random& ids);
    [[nodiscard]] std::size_t bytes() const;

    std::string stream_arn;
    bool microseconds;
    std::shared_ptr<const engine::Table> table;
    std::shared_ptr<const engine::KeptChange> change;  // until it is rendered
    std::string partition_key, data;                   // after it is rendered
  };

  class Puts;                                                                    // the background task
  using ByTable = std::map<std::string, std::vector<Destination>, std::less<>>;  // by the table's UUID

  // Adds a stored destination under its table. Returns whether the destination is active.
  static bool add(const engine::Document& stored, ByTable& by_table);
  void load();
  // Replaces the account's destinations with the stored ones.
  void reload(std::string_view account);
  [[nodiscard]] bool listen() REQUIRES(mutex_);
  void take(const engine::Change& change);  // called on the committing thread
  // Returns the table's destinations; nullptr if it has none.
  [[nodiscard]] const std::vector<Destination>* find(const engine::Table& table) const
      REQUIRES(waiting_mutex_);
  void keep_within_bounds() REQUIRES(waiting_mutex_);
  // Takes the changes for one request and renders them. `batch` stays empty if no change is waiting.
  void take_batch(std::vector<Waiting>& batch);
  bool take_first(std::vector<Waiting>& batch);  // false: no change waits, or the first is for another stream
  void give_back_last(std::vector<Waiting>& batch);
  // Puts the rest of a batch back at the front of the queue. The batch is then no longer in flight.
  void give_back(std::vector<Waiting>& batch);

  engine::Database& database_;
  const std::shared_ptr<outbound::Invoker> invoker_;
  const std::optional<outbound::Url> endpoint_;
  const std::size_t waiting_bytes_max_;
  const std::shared_ptr<engine::Scheduler> scheduler_;
  const std::shared_ptr<Puts> puts_;
  engine::Bell progress_;
  std::stop_source stop_;

  // Held while destinations change. The committing thread does not acquire it, because subscribe() can wait
  // for that thread.
  mutable engine::Mutex mutex_;
  engine::ChangeFeed::Subscription subscription_ GUARDED_BY(mutex_);
  bool listening_ GUARDED_BY(mutex_) = false;

  mutable engine::Mutex waiting_mutex_;  // held for a few instructions; the committing thread acquires it
  std::map<std::string, ByTable, std::less<>> by_account_ GUARDED_BY(waiting_mutex_);
  std::deque<Waiting> waiting_ GUARDED_BY(waiting_mutex_);
  std::size_t waiting_bytes_ GUARDED_BY(waiting_mutex_) = 0;
  std::uint64_t dropped_ GUARDED_BY(waiting_mutex_) = 0;
  std::size_t under_way_ GUARDED_BY(waiting_mutex_) = 0;
};

}  // namespace mayfly::compat::kinesis
