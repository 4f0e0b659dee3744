// Forgets stream records that are older than 24 h of stream time, and shards and streams that closed before
// that.
//
// Records go in lots, a minute of stream time after the last lot at the earliest. One task for all accounts,
// at rest until an account's oldest record is old enough; an account without streams costs nothing. A step
// trims one account, or looks whose turn it is. What fails is tried again later.
//
// Nobody's turn (account.h) is needed for it, so it holds up neither the reaper nor who moves a clock, nor
// they it. A restore, a reset or a move back may come while it reads what there is to trim: they begin
// another timeline of the account, and what was found out in an earlier one is written no more
// (Catalog::trim_stream).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/account.h"
#include "engine/clock.h"
#include "engine/mutex.h"
#include "engine/scheduler.h"

namespace mayfly::engine {

class Database;

class StreamTrimmer {
 public:
  StreamTrimmer(Database& database, std::shared_ptr<Scheduler> scheduler);
  StreamTrimmer(const StreamTrimmer&) = delete;
  StreamTrimmer& operator=(const StreamTrimmer&) = delete;

  // From now on it trims by itself; else only trim() does. Before anything can wake it. Steps end with the
  // scheduler.
  void start();

  // Forgets what is too old by now. Returns the stream time at which that is worth while again. Thread-safe,
  // for one account too.
  Instant trim(Account& account);

  // --- told by whoever has changed what it goes by
  void stream_made(Account& account);
  // The account's clock was moved, or goes on at another pace. Where there are no streams nothing ages, and
  // what was jumped over need not be remembered.
  void time_moved(Account& account);
  // The account has another timeline, and other streams perhaps.
  void replaced(Account& account);

  // For tests: how many accounts its rounds have looked at.
  [[nodiscard]] std::uint64_t looks() const;

 private:
  class Rounds;
  struct Watched {
    Instant next;            // when to trim, in stream time
    std::uint64_t look = 0;  // the latest; an earlier one says nothing any more
  };

  void watch(Account& account);
  void trim_watched(Account& account);
  std::uint64_t begin_look(const Account& account);
  void look_again(const Account& account);  // which failed
  // When the account is to be trimmed, in stream time; nothing: no time is known.
  [[nodiscard]] std::optional<Instant> next_of(const Account& account) const;
  void wake(Account& account);

  Database& database_;
  const std::shared_ptr<Scheduler> scheduler_;
  std::shared_ptr<Rounds> rounds_;  // from start() on
  mutable Mutex mutex_;             // for a few instructions
  std::map<std::string, Watched, std::less<>> watched_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
