// Moves an account's clock and stops, in order, at each instant at which an item fires (is deleted by its
// TTL).
//
// Guarantees:
// - When a call returns, every item that fired during the move has been deleted, its index entries are gone,
//   and its stream record can be read.
// - Callers that read the clock during a move see it advance in steps.
// - Only one move runs at a time; a second one begins where the first ended.
// - A move always ends, whatever other clients write during it. The number of stops is limited to the number
//   of entries that were pending when the move began, plus stops_spare. Items whose entries remain after that
//   are deleted when the clock arrives at its target. `stop` ends the move at the current instant.
// - Stream records do not age during a move, so a jump cannot trim the records that it produced, unless
//   `age_streams` asks for aging.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/expected.h"
#include "engine/base/mutex.h"
#include "engine/time/account.h"

namespace mayfly::engine {

class Catalog;
class Failpoints;
class HistoryTrimmer;
class Reaper;
class Replication;
class StreamTrimmer;

// The result of moving a clock.
struct Advanced {
  Instant now = 0;
  std::int64_t expired = 0;
  Deletions tables;
  std::optional<Instant> next_expiry;  // nullopt: no further automatic expiry
};

enum class ClockRefusal : std::uint8_t {
  has_tables,               // an earlier time would leave items and records from the future
  beyond_the_last_instant,  // clocks end in the year 9999
};

class TimeTravel {
 public:
  static constexpr std::int64_t stops_spare = 10'000;

  // Called with an account after its clock was moved or the clock's pace was changed. A listener must not
  // hold locks for more than a few instructions.
  using Listener = std::function<void(std::string_view account)>;

  // The parts that this class uses. Requires: all of them outlive this object.
  struct Uses {
    Accounts& accounts;
    Catalog& catalog;
    Failpoints& failpoints;
    Reaper& reaper;
    StreamTrimmer& stream_trimmer;
    HistoryTrimmer& history_trimmer;
    Replication& replication;
  };

  explicit TimeTravel(const Uses& uses) : uses_(uses) {}

  // Registers a listener, replacing the previous one of the same `owner`. An empty listener only removes the
  // previous one. When this returns, no call to the previous listener is running.
  void listen(const void* owner, Listener listener);

  // Moves the clock to `to`. If `to` is in the past, the clock does not move, but items that fire now are
  // still deleted. A clock in mode real changes to mode offset.
  Advanced advance(std::string_view account, Instant to, bool age_streams = false,
                   const std::stop_token& stop = {});
  // Moves the clock by `by` from where the previous move ended.
  Expected<Advanced, ClockRefusal> advance_by(std::string_view account, std::chrono::milliseconds by,
                                              bool age_streams = false, const std::stop_token& stop = {});
  // Moves the clock to the next instant at which an item fires, if there is one.
  Advanced advance_to_next_expiry(std::string_view account, bool age_streams = false,
                                  const std::stop_token& stop = {});
  // Changes the clock's setting. If `now` is later than the clock's time, the clock advances to `now`; an
  // earlier `now` is allowed only for accounts without tables. Without `now`, the time stays the same, except
  // that a clock in mode real takes the host's time.
  Expected<Advanced, ClockRefusal> set(std::string_view account, ClockSetting setting,
                                       std::optional<Instant> now, bool age_streams = false,
                                       const std::stop_token& stop = {});
  // The instant at which the account's next item fires; nullopt if no item fires automatically.
  [[nodiscard]] std::optional<Instant> next_expiry(std::string_view account);

 private:
  Advanced go(const Account::Turn& turn, Instant to, ClockSetting arriving, bool age_streams,
              const std::stop_token& stop);
  [[nodiscard]] std::int64_t pending_entries(const Account& account) const;
  void tell(const Account& account) const;

  const Uses uses_;
  mutable Mutex mutex_;
  std::vector<std::pair<const void*, Listener>> listeners_ GUARDED_BY(mutex_);
};

}  // namespace mayfly::engine
