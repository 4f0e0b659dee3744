// Erases old versions of items (history.h) that no point and no instant needs any longer.
//
// A version is its item's state between the commit of the previous version and its own commit. It is needed
// if a point, or an instant that can be restored, lies between the two. To find versions that are not needed,
// the trimmer walks a table's versions: when one of its points was dropped, when its recovery ended, and each
// time a 24th of its period has passed. So at most a 24th of the kept versions is useless, and each version
// is examined some 24 times during its life.
//
// When all versions together exceed the limit (history_size.h), their sizes are added up by age, and the
// oldest instants of all tables are given up until an eighth of the limit is free. Versions that points need
// are kept; when these alone exceed the limit, no further point is taken.
//
// One task serves all accounts. It rests until a clock reaches an instant at which something can be erased. A
// step examines a limited number of versions while it holds the catalog's changes (Catalog::hold_changes), so
// that no point is taken and no restore happens between examining and erasing. A step does not wait for
// writers.
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

  // Starts trimming in the background; until then only trim() trims. Steps end with the scheduler.
  void start();

  // Erases all versions that can be erased now. Thread-safe.
  void trim();

  // Whether points alone need more than the limit, as of the last weighing.
  [[nodiscard]] bool points_exceed_bound() const;

  // --- notifications of changes that affect trimming
  void less_needed(TableId table);  // a point of it was dropped, or its recovery changed or ended
  // A restore has stored other versions for an account, and no thread has seen them yet. Walks in progress
  // start over, because a walk remembers the last version that it passed. Requires: the catalog's changes are
  // held.
  void replacing() { ++restores_; }
  void replaced(Account& account);    // its tables and points were replaced
  void time_moved(Account& account);  // its clock moved
  void written(std::uint64_t bytes);  // bytes of old versions

  // For tests: how many times an account has been looked at.
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
  bool begin_weighing() REQUIRES(working_);  // returns false if there is no need
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
  Mutex working_;                   // one step at a time; taken before any table's gate
  std::unique_ptr<Walk> walk_ GUARDED_BY(working_);
  std::unique_ptr<Weighing> weighing_ GUARDED_BY(working_);
  std::atomic<std::uint64_t> unweighed_{0};  // bytes written since the total was last checked
  std::atomic<std::uint64_t> restores_{0};
  Agenda agenda_;        // accounts that may have instants older than their period
  mutable Mutex mutex_;  // held for a few instructions only
  std::set<TableId> to_trim_ GUARDED_BY(mutex_);
  std::uint64_t weighed_ GUARDED_BY(mutex_) = 0;  // bytes left by the last weighing
  bool points_exceed_ GUARDED_BY(mutex_) = false;
  bool to_weigh_ GUARDED_BY(mutex_) = true;  // the total may be above the limit, or below what it was
};

}  // namespace mayfly::engine
