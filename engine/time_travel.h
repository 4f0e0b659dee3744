// Moves an account's clock, through every instant at which something fires, in order.
//
// When a call returns, all that fired on the way is deleted, gone from indexes and readable in streams. Who
// reads the clock meanwhile sees it step. One journey at a time: a second begins where the first ended.
//
// A journey has an end, whatever others write meanwhile: it stops at every instant for as many entries as
// there were when it began, and for stops_spare more; what then is still to fire does so on arrival. `stop`
// ends it where it is.
//
// Stream records do not age by the way, so that a jump cannot lose what it brought about, unless that is
// asked for.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/account.h"
#include "engine/clock.h"
#include "engine/database.h"
#include "engine/expected.h"
#include "engine/mutex.h"

namespace mayfly::engine {

class HistoryTrimmer;
class Reaper;
class StreamTrimmer;

class TimeTravel {
 public:
  static constexpr std::int64_t stops_spare = 10'000;

  // Told of an account whose clock was moved, or goes at another pace, once it does. It holds no lock but for
  // a few instructions.
  using Listener = std::function<void(std::string_view account)>;

  TimeTravel(Database& database, Reaper& reaper, StreamTrimmer& trimmer, HistoryTrimmer& history)
      : database_(database), reaper_(reaper), trimmer_(trimmer), history_(history) {}

  // From now on; an empty one is told nothing, and none is when this returns. Each `owner` has one.
  void listen(const void* owner, Listener listener);

  // Moves to `to`, or, if that is past, nowhere; what fires now is deleted all the same. Real time becomes an
  // offset.
  Advanced advance(Account& account, Instant to, bool age_streams, const std::stop_token& stop);
  // Moves so much further than where the journey before it ended.
  Expected<Advanced, ClockRefusal> advance_by(Account& account, std::chrono::milliseconds by,
                                              bool age_streams, const std::stop_token& stop);
  // Moves to the next instant at which something fires, if there is one.
  Advanced advance_to_next_expiry(Account& account, bool age_streams, const std::stop_token& stop);
  // A later time is an advance; an earlier one is for accounts without tables. No `now`: the time stays what
  // it is, or in real time becomes the host's.
  Expected<Advanced, ClockRefusal> set(Account& account, ClockSetting setting, std::optional<Instant> now,
                                       bool age_streams, const std::stop_token& stop);

 private:
  Advanced go(const Account::Turn& turn, Instant to, ClockSetting arriving, bool age_streams,
              const std::stop_token& stop);
  [[nodiscard]] std::int64_t pending_entries(const Account& account) const;
  void tell(const Account& account) const;

  Database& database_;
  Reaper& reaper_;
  StreamTrimmer& trimmer_;
  HistoryTrimmer& history_;
  mutable Mutex mutex_;
  std::vector<std::pair<const void*, Listener>> listeners_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
