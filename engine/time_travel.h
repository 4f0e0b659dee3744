// Moves an account's clock and stops, in order, at each instant at which an item fires (is deleted by its
// TTL).
//
// Guarantees:
// - When a call returns, every item that fired on the way is deleted, gone from indexes and readable in
//   streams.
// - Callers that read the clock meanwhile see it step.
// - Only one move runs at a time; a second one begins where the first ended.
// - A move always ends, whatever other clients write meanwhile. It stops at most as often as
//   there were pending entries when it began, plus stops_spare. Entries that are left after that fire on
//   arrival. `stop` ends the move where it is.
// - Stream records do not age during a move, so a jump cannot trim the records that it produced, unless
//   `age_streams` asks for aging.
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

  // Called with an account after its clock was moved or its pace was changed. A listener must not hold locks
  // for more than a few instructions.
  using Listener = std::function<void(std::string_view account)>;

  TimeTravel(Database& database, Reaper& reaper, StreamTrimmer& trimmer, HistoryTrimmer& history)
      : database_(database), reaper_(reaper), trimmer_(trimmer), history_(history) {}

  // Registers the listener from now on. Each `owner` has one. An empty listener unregisters; when that call
  // returns, no call to the old one is running.
  void listen(const void* owner, Listener listener);

  // Moves the clock to `to`. If `to` is in the past, the clock stays, but items that fire now are still
  // deleted. A clock in mode real changes to mode offset.
  Advanced advance(Account& account, Instant to, bool age_streams, const std::stop_token& stop);
  // Moves the clock by `by` from where the previous move ended.
  Expected<Advanced, ClockRefusal> advance_by(Account& account, std::chrono::milliseconds by,
                                              bool age_streams, const std::stop_token& stop);
  // Moves to the next instant at which an item fires, if there is one.
  Advanced advance_to_next_expiry(Account& account, bool age_streams, const std::stop_token& stop);
  // Changes the clock's setting. A later `now` is an advance; an earlier one is allowed only for accounts
  // without tables. Without `now`, the time stays as it is, or in mode real becomes the host's.
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
