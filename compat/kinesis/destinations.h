// Tables whose changes go to Kinesis data streams: which, and the changes on their way.
//
// Each change of a table that has an active destination becomes one record, put with PutRecords to the
// endpoint in the order of the commits, at least once: what Kinesis does not take is put again, after 0.1 s,
// 0.2 s, … up to 10 s of the scheduler's time. Changes on their way are in memory, at most `waiting_max` of
// them and the options' `waiting_bytes_max` (then the oldest go, which dropped() counts), and are lost when
// Mayfly ends. Nothing that waits holds a thread: one task puts one request after the other.
//
// Destinations are stored, and are of their account's state (engine/documents.h): a restore brings back those
// that the snapshot has, a reset drops them. Changes that are on their way by then go on. Thread-safe.
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
#include "engine/bell.h"
#include "engine/change_feed.h"
#include "engine/database.h"
#include "engine/documents.h"
#include "engine/mutex.h"
#include "engine/random.h"
#include "engine/scheduler.h"

namespace mayfly::compat::kinesis {

struct Destination {
  std::string table, table_uuid, stream_arn;
  bool active = false;
  std::optional<bool> microseconds = {};  // ApproximateCreationDateTimePrecision; nothing: never chosen
};

class Destinations {
 public:
  static constexpr std::size_t waiting_max = 100'000;

  Destinations(engine::Database& database, KinesisOptions options);
  ~Destinations();
  Destinations(const Destinations&) = delete;
  Destinations& operator=(const Destinations&) = delete;

  // Of a table, active ones and others.
  [[nodiscard]] std::vector<Destination> list(const engine::Table& table) const;
  // The table's destination with this stream becomes what `decide` makes of it, or nothing is changed. It is
  // told an inactive one, of no precision, if there is none. One change after the other, and forget(): what
  // `decide` sees, the table's being there too, is so until its answer is in force. InternalServerError:
  // there is no thread to be had that puts records. Requires: the account is not being replaced
  // (documents.h), as in a request.
  using Decide = std::function<Result<Destination>(Destination before)>;
  Result<Destination> change(const engine::Table& table, std::string_view stream_arn, const Decide& decide);
  // Of a table that is gone. Its changes that are on their way go on.
  void forget(const engine::Table& table);
  // Waits until everything that was committed so far is taken. False: not in time.
  bool settle(engine::RealTime deadline, const std::stop_token& stop = {});
  // Changes that waited too long behind others.
  [[nodiscard]] std::uint64_t dropped() const;

 private:
  // A change on its way: kept as it was told; once, outside of the commit, it becomes what Kinesis gets.
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
    std::string partition_key, data;                   // from then on
  };

  class Puts;                                                                    // the task
  using ByTable = std::map<std::string, std::vector<Destination>, std::less<>>;  // by its UUID

  // Adds what was stored to its table's. Returns whether it is active.
  static bool add(const engine::Document& stored, ByTable& by_table);
  void load();
  // Those of the account are what is stored of it by now.
  void reload(std::string_view account);
  [[nodiscard]] bool listen() REQUIRES(mutex_);
  void take(const engine::Change& change);  // on the committing thread
  // Of a table; nullptr: none.
  [[nodiscard]] const std::vector<Destination>* find(const engine::Table& table) const
      REQUIRES(waiting_mutex_);
  void keep_within_bounds() REQUIRES(waiting_mutex_);
  // Takes what goes into one request, and renders it; empty: nothing waits.
  void take_batch(std::vector<Waiting>& batch);
  bool take_first(std::vector<Waiting>& batch);  // false: it is for another stream, or there is none
  void give_back_last(std::vector<Waiting>& batch);
  // What is left of a batch is under way no longer, and waits before all others.
  void give_back(std::vector<Waiting>& batch);

  engine::Database& database_;
  const std::shared_ptr<outbound::Invoker> invoker_;
  const std::optional<outbound::Url> endpoint_;
  const std::size_t waiting_bytes_max_;
  const std::shared_ptr<engine::Scheduler> scheduler_;
  const std::shared_ptr<Puts> puts_;
  engine::Bell progress_;
  std::stop_source stop_;

  // While destinations are changed. Not taken by the committing thread, which subscribe() may wait for.
  mutable engine::Mutex mutex_;
  engine::ChangeFeed::Subscription subscription_ GUARDED_BY(mutex_);
  bool listening_ GUARDED_BY(mutex_) = false;

  mutable engine::Mutex waiting_mutex_;  // for a few instructions; the committing thread takes it
  std::map<std::string, ByTable, std::less<>> by_account_ GUARDED_BY(waiting_mutex_);
  std::deque<Waiting> waiting_ GUARDED_BY(waiting_mutex_);
  std::size_t waiting_bytes_ GUARDED_BY(waiting_mutex_) = 0;
  std::uint64_t dropped_ GUARDED_BY(waiting_mutex_) = 0;
  std::size_t under_way_ GUARDED_BY(waiting_mutex_) = 0;
};

}  // namespace mayfly::compat::kinesis
