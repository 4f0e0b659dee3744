// Erases stream records that are older than 24 h of stream time, and shards and streams that were closed more
// than 24 h ago.
//
// Records are trimmed in batches, at least a minute of stream time apart. One task serves all accounts. It
// sleeps until an account's oldest record is old enough to be trimmed. An account without streams costs
// nothing. A step trims one account or finds the accounts to trim next. A failed trim is retried.
//
// Trimming does not take the account's turn (account.h), so it blocks neither the reaper nor a caller that
// moves a clock, and they do not block it. A restore, a reset or moving the clock back can happen while the
// trimmer reads the records to trim. Each of these begins a new timeline of the account, and results from an
// earlier timeline are not written (Catalog::trim_stream).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/base/scheduler.h"
#include "engine/time/account.h"

namespace mayfly::engine {

class Catalog;
class ChangeLog;

class StreamTrimmer {
 public:
  // Requires: all arguments outlive this object.
  StreamTrimmer(Accounts& accounts, const Catalog& catalog, ChangeLog& change_log,
                std::shared_ptr<Scheduler> scheduler);
  StreamTrimmer(const StreamTrimmer&) = delete;
  StreamTrimmer& operator=(const StreamTrimmer&) = delete;

  // Starts trimming in the background. Before this call, only trim() erases records. Background steps end
  // when the scheduler ends.
  // Requires: no thread can wake the trimmer before this call.
  void start();

  // Erases the account's records that are now too old. Returns the stream time at which the next trim may
  // find more to erase. Thread-safe, even for the same account.
  Instant trim(Account& account);

  // --- to be called after a change that affects when to trim
  void stream_made(Account& account);
  // The account's clock was moved or its rate was changed. If the account has no streams, this discards the
  // recorded jumps of its clock, because no record needs them.
  void time_moved(Account& account);
  // The account has a new timeline and possibly other streams.
  void replaced(Account& account);

  // For tests: the number of times that the background task has examined an account.
  [[nodiscard]] std::uint64_t looks() const;

 private:
  class Rounds;
  struct Watched {
    Instant next;            // when to trim next, in stream time
    std::uint64_t look = 0;  // the latest look; results of earlier looks are ignored
  };

  void watch(Account& account);
  void trim_watched(Account& account);
  std::uint64_t begin_look(const Account& account);
  void look_again(const Account& account);  // to be called after a failure
  // When to trim the account next, in stream time; nullopt if unknown.
  [[nodiscard]] std::optional<Instant> next_of(const Account& account) const;
  void wake(Account& account);

  Accounts& accounts_;
  const Catalog& catalog_;
  ChangeLog& change_log_;
  const std::shared_ptr<Scheduler> scheduler_;
  std::shared_ptr<Rounds> rounds_;  // set by start()
  mutable Mutex mutex_;             // held for a few instructions
  std::map<std::string, Watched, std::less<>> watched_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
