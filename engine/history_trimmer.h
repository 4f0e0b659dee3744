// Forgets old versions of items (history.h) that no point and no instant needs any more.
//
// A version is what its item was between the commit of the version before it and its own. It is needed if a
// point lies between the two, or an instant that can be gone back to. To find those that are not, a table's
// versions are walked; that is done when a point of it went, when its recovery ended, and each time a 24th of
// its period has passed. So of what is kept no more than that is useless, and each version is looked at some
// 24 times in its life.
//
// Where all versions together are more than may be (History::bytes_max) they are weighed by age, and the
// oldest instants of all tables given up until an eighth is free. What points need stays; when that alone is
// too much, no other point is taken.
//
// One task for all accounts, at rest until a clock comes to where something can go. A step looks at so many
// versions, under the catalog's changes: so neither a point nor a restore comes between its look and its
// erasing, and it waits for no writer.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/agenda.h"
#include "engine/clock.h"
#include "engine/mutex.h"
#include "engine/points.h"
#include "engine/scheduler.h"
#include "engine/table.h"

namespace mayfly::engine {

class Account;
class Database;
class LiveTable;

class HistoryTrimmer {
 public:
  HistoryTrimmer(Database& database, std::shared_ptr<Scheduler> scheduler);
  ~HistoryTrimmer();
  HistoryTrimmer(const HistoryTrimmer&) = delete;
  HistoryTrimmer& operator=(const HistoryTrimmer&) = delete;

  // From now on it trims by itself; else only trim() does. Steps end with the scheduler.
  void start();

  // Forgets all that can go now. Thread-safe.
  void trim();

  // What points alone need is more than may be, as of the last weighing.
  [[nodiscard]] bool points_exceed_bound() const;

  // --- told by whoever has changed what it goes by
  void less_needed(TableId table);  // points of it went, or its recovery is another, or over
  // A restore has stored an account's other versions, and nobody has seen them. Walks that have begun begin
  // anew, since they remember the version before the next. Requires: Catalog::hold_changes is held.
  void replacing() { ++restores_; }
  void replaced(Account& account);    // it has other tables, and points
  void time_moved(Account& account);  // its clock
  void written(std::uint64_t bytes);  // old versions

  // For tests: how many accounts its rounds have looked at.
  [[nodiscard]] std::uint64_t looks() const { return agenda_.looks(); }

 private:
  class Rounds;
  struct Walk;
  struct Needs;
  struct Weighing;

  bool step();  // false: there is nothing to do now
  bool trim_some() REQUIRES(working_);
  void trim_step(Walk& walk, bool& done);
  bool weigh_some() REQUIRES(working_);
  bool begin_weighing() REQUIRES(working_);  // false: there is no need
  void ask_to_weigh() REQUIRES(mutex_);
  void weigh_step(Weighing& weighing);
  void give_up(const Weighing& weighing);
  void move_on(LiveTable& live, Instant until);
  bool survey();  // whether something is to be trimmed now
  bool survey_account(Account& account);
  void look_again(Account& account, std::chrono::nanoseconds pause);
  void wake();

  Database& database_;
  const std::shared_ptr<Scheduler> scheduler_;
  std::shared_ptr<Rounds> rounds_;  // from start() on
  Mutex working_;                   // one step at a time; taken before any table's gate
  std::unique_ptr<Walk> walk_ GUARDED_BY(working_);
  std::unique_ptr<Weighing> weighing_ GUARDED_BY(working_);
  std::atomic<std::uint64_t> unweighed_{0};  // bytes written since a look at all of them
  std::atomic<std::uint64_t> restores_{0};
  Agenda agenda_;        // accounts in which instants may be too old
  mutable Mutex mutex_;  // for a few instructions
  std::set<TableId> to_trim_ GUARDED_BY(mutex_);
  std::uint64_t weighed_ GUARDED_BY(mutex_) = 0;  // how many bytes were left by the last weighing
  bool points_exceed_ GUARDED_BY(mutex_) = false;
  bool to_weigh_ GUARDED_BY(mutex_) = true;  // there may be more bytes than may be, or fewer than there were
};

}  // namespace mayfly::engine
