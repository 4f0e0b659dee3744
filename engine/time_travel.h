// Moves an account's clock, through every instant at which something fires, in order.
//
// When a call returns, all that fired on the way is deleted, gone from indexes and readable in streams. Who reads
// the clock meanwhile sees it step. One journey at a time; a second waits for the first.
//
// Stream records do not age by the way, so that a jump cannot lose what it brought about, unless that is asked for.
#pragma once

#include <optional>

#include "engine/account.h"
#include "engine/clock.h"
#include "engine/database.h"
#include "engine/expected.h"

namespace mayfly::engine {

class Reaper;

class TimeTravel {
 public:
  TimeTravel(Database& database, Reaper& reaper) : database_(database), reaper_(reaper) {}

  // To `to`, or nowhere if that is past: what fires now is deleted all the same. Real time becomes an offset.
  Advanced advance(Account& account, Instant to, bool age_streams);
  // To the next instant at which something fires, if there is one.
  Advanced advance_to_next_expiry(Account& account, bool age_streams);
  // A later time is an advance; an earlier one is for accounts without tables. No `now`: as it is, or the host's
  // in real time.
  Expected<Advanced, ClockRefusal> set(Account& account, ClockSetting setting, std::optional<Instant> now,
                                       bool age_streams);

 private:
  Advanced go(Account& account, Instant to, ClockSetting arriving, bool age_streams);

  Database& database_;
  Reaper& reaper_;
};

}  // namespace mayfly::engine
