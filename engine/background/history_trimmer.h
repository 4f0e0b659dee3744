// Erases the old item versions (history.h) that no point and no instant needs any longer.
//
// A version is its item's state between the commit of the previous version and its own commit. It is needed
// if a point, or an instant that can be restored, lies between these two commits. To find versions that are
// not needed, the trimmer walks all versions of a table when one of the table's points is dropped, when the
// table's recovery ends, and each time a 24th of the recovery period has passed. So at most 1/24 of the
// stored versions are unneeded, and each version is examined about 24 times during its life.
//
// When all versions together exceed the limit (history_size.h), the trimmer adds up their sizes by age and
// gives up the oldest instants of all tables until one eighth of the limit is free. Versions that points need
// are kept; while these alone exceed the limit, new points are refused.
//
// One task serves all accounts. It sleeps until a clock reaches an instant at which something can be erased.
// Each step examines a limited number of versions while it blocks changes to the catalog
// (Catalog::hold_changes), so that no point is taken and no restore happens between examining and erasing. A
// step does not wait for writers.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/base/scheduler.h"
#include "engine/schema/table.h"
#include "engine/tables/points.h"
#include "engine/time/agenda.h"

namespace mayfly::engine {

class Account;
class Accounts;
class BeforeImages;
class Catalog;
class Committer;
class HistorySize;
class LiveTable;
class SnapshotHeads;
class Storage;

class HistoryTrimmer {
 public:
  // The parts that this class uses. Requires: all of them outlive this object.
  struct Uses {
    Accounts& accounts;
    Catalog& catalog;
    Storage& storage;
    BeforeImages& before_images;
    Points& points;
    Committer& committer;
    const SnapshotHeads& snapshots;
    const HistorySize& size;
  };

  HistoryTrimmer(const Uses& uses, std::shared_ptr<Scheduler> scheduler);
  ~HistoryTrimmer();
  HistoryTrimmer(const HistoryTrimmer&) = delete;
  HistoryTrimmer& operator=(const HistoryTrimmer&) = delete;

  // Starts trimming in the background; before this call, only trim() erases versions. Background steps end
  // when the scheduler ends.
  void start();

  // Erases all versions that can be erased now. Thread-safe.
  void trim();

  // Whether the versions that points need exceeded the limit when the sizes were last added up.
  [[nodiscard]] bool points_exceed_bound() const;

  // --- notifications of changes that affect trimming
  void less_needed(TableId table);  // a point was dropped, or the table's recovery changed or ended
  // A restore has replaced an account's versions, and no thread has seen the new ones yet. Walks in progress
  // start over, because a walk remembers the last version that it passed. Requires: the caller blocks changes
  // to the catalog.
  void replacing() { ++restores_; }
  void replaced(Account& account);    // the account's tables and points were replaced
  void time_moved(Account& account);  // the account's clock was moved
  void written(std::uint64_t bytes);  // old versions of this size were stored

  // For tests: the number of times that the background task has examined an account.
  [[nodiscard]] std::uint64_t looks() const { return agenda_.looks(); }

 private:
  class Rounds;
  struct Walk;
  struct Needs;
  struct Weighing;

  bool step();  // returns false if there is nothing to do now
  bool trim_some() REQUIRES(working_);
  void trim_step(Walk& walk, bool& done);
  bool weigh_some() REQUIRES(working_);
  bool begin_weighing() REQUIRES(working_);  // returns false if no weighing is needed
  void ask_to_weigh() REQUIRES(mutex_);
  void weigh_step(Weighing& weighing);
  void give_up(const Weighing& weighing);
  void move_on(LiveTable& live, Instant until);
  bool survey();  // returns whether there is something to trim now
  bool survey_account(Account& account);
  void look_again(Account& account, std::chrono::nanoseconds pause);
  void wake();

  const Uses uses_;
  const std::shared_ptr<Scheduler> scheduler_;
  std::shared_ptr<Rounds> rounds_;  // null before start()
  Mutex working_;                   // held during a step; taken before any table's gate
  std::unique_ptr<Walk> walk_ GUARDED_BY(working_);
  std::unique_ptr<Weighing> weighing_ GUARDED_BY(working_);
  std::atomic<std::uint64_t> unweighed_{0};  // bytes written since the total was last checked
  std::atomic<std::uint64_t> restores_{0};
  Agenda agenda_;        // accounts that may have instants older than the recovery period
  mutable Mutex mutex_;  // held for a few instructions only
  std::set<TableId> to_trim_ GUARDED_BY(mutex_);
  std::uint64_t weighed_ GUARDED_BY(mutex_) = 0;  // bytes that remained after the last weighing
  bool points_exceed_ GUARDED_BY(mutex_) = false;
  bool to_weigh_ GUARDED_BY(mutex_) = true;  // the total may exceed the limit, or may have shrunk
};

}  // namespace mayfly::engine
