#include "engine/background/time_travel.h"

#include <algorithm>

#include "engine/background/history_trimmer.h"
#include "engine/background/reaper.h"
#include "engine/background/replication.h"
#include "engine/background/stream_trimmer.h"
#include "engine/items/failpoints.h"
#include "engine/tables/catalog.h"

namespace mayfly::engine {

namespace {

using Mode = ClockSetting::Mode;

ClockSetting moved(ClockSetting setting) {
  return setting.mode == Mode::real ? ClockSetting{Mode::offset} : setting;
}

}  // namespace

void TimeTravel::listen(const void* owner, Listener listener) {
  const Lock lock(mutex_);
  std::erase_if(listeners_, [&](const auto& one) { return one.first == owner; });
  if (listener) listeners_.emplace_back(owner, std::move(listener));
}

void TimeTravel::tell(const Account& account) const {
  const Lock lock(mutex_);
  for (const auto& [owner, listener] : listeners_) listener(account.id());
}

std::int64_t TimeTravel::pending_entries(const Account& account) const {
  std::int64_t entries = 0;
  for (const auto& table : uses_.catalog.tables(account.id())) {
    if (table->description()->ttl) entries += table->counter(expiry_entries).items;
  }
  return entries;
}

Advanced TimeTravel::go(const Account::Turn& turn, Instant to, ClockSetting arriving, bool age_streams,
                        const std::stop_token& stop) {
  Accounts& accounts = uses_.accounts;
  Account& account = turn.account();
  AccountClock& clock = account.clock();
  const ClockSetting going_on = moved(clock.setting());
  const Instant from = clock.stop(going_on);

  // However the move ends, the clock continues from the instant that it has reached.
  struct Arrival {
    Account& account;
    const TimeTravel& travel;
    ClockSetting setting;
    Instant now;
    ~Arrival() {
      account.clock().set(setting, now);
      travel.uses_.stream_trimmer.time_moved(account);
      travel.uses_.history_trimmer.time_moved(account);
      travel.tell(account);
    }
  };

  Advanced result;
  {
    Arrival arrival{account, *this, going_on, from};
    TimerQueue& timers = account.timers();
    Reaper::Sweeps sweeps;
    Failpoints& failpoints = uses_.failpoints;
    const auto something_waited = [&] {
      return failpoints.any() && failpoints.wait_for_release(account.id(), stop);
    };
    // Steps to an instant and deletes the items that fire there.
    const auto visit = [&](Instant instant) {
      accounts.save(account, going_on, instant, age_streams ? std::nullopt : std::optional(arrival.now));
      if (!age_streams) account.jumped(arrival.now, instant);
      arrival.now = instant;
      clock.hold(instant);
      do {
        uses_.reaper.sweep_account(turn, instant, sweeps, result.tables, stop);
      } while (something_waited());
    };
    std::int64_t stops_left = pending_entries(account) + stops_spare;
    for (auto timer = timers.earliest();
         timer && timer->fires <= to && stops_left > 0 && !stop.stop_requested();
         timer = timers.earliest(), --stops_left) {
      visit(std::max(arrival.now, timer->fires));
    }
    if (!stop.stop_requested()) {
      visit(std::max(from, to));
      accounts.save(account, arriving, arrival.now, std::nullopt);
      arrival.setting = arriving;
    }
  }
  uses_.replication.settle(account, stop);  // applies writes that were due to arrive
  if (age_streams) uses_.stream_trimmer.trim(account);
  for (const auto& [name, count] : result.tables) result.expired += count;
  result.next_expiry = uses_.reaper.next_expiry(turn);
  result.now = clock.now();
  return result;
}

Advanced TimeTravel::advance(std::string_view of, Instant to, bool age_streams, const std::stop_token& stop) {
  Account& account = uses_.accounts.of(of);
  const Account::Turn turn = account.take_turn();
  return go(turn, to, moved(account.clock().setting()), age_streams, stop);
}

Expected<Advanced, ClockRefusal> TimeTravel::advance_by(std::string_view of, std::chrono::milliseconds by,
                                                        bool age_streams, const std::stop_token& stop) {
  Account& account = uses_.accounts.of(of);
  const Account::Turn turn = account.take_turn();
  const Instant now = account.clock().now();
  if (by.count() > last_instant - now) return Unexpected{ClockRefusal::beyond_the_last_instant};
  return go(turn, now + by.count(), moved(account.clock().setting()), age_streams, stop);
}

Advanced TimeTravel::advance_to_next_expiry(std::string_view of, bool age_streams,
                                            const std::stop_token& stop) {
  Account& account = uses_.accounts.of(of);
  const Account::Turn turn = account.take_turn();
  const std::optional<Instant> next = uses_.reaper.next_expiry(turn);
  if (!next) return {.now = account.clock().now()};
  return go(turn, *next, moved(account.clock().setting()), age_streams, stop);
}

Expected<Advanced, ClockRefusal> TimeTravel::set(std::string_view of, ClockSetting setting,
                                                 std::optional<Instant> now, bool age_streams,
                                                 const std::stop_token& stop) {
  Accounts& accounts = uses_.accounts;
  Account& account = accounts.of(of);
  const Account::Turn turn = account.take_turn();
  const Instant before = account.clock().now();
  const Instant wanted = setting.mode == Mode::real ? accounts.host().now() : now.value_or(before);
  if (wanted >= before) return go(turn, wanted, setting, age_streams, stop);
  // No table may be created while the clock is moved back, because the clock of an account with tables must
  // not move back.
  bool done = false;
  uses_.catalog.hold_still(account.id(), [&](const Catalog::Tables& tables) {
    if (!tables.empty()) return;
    accounts.save_anew(account, setting, wanted);
    account.begin_anew(setting, wanted);
    done = true;
  });
  if (!done) return Unexpected{ClockRefusal::has_tables};
  uses_.stream_trimmer.replaced(account);
  return Advanced{.now = account.clock().now()};
}

std::optional<Instant> TimeTravel::next_expiry(std::string_view account) {
  return uses_.reaper.next_expiry(uses_.accounts.of(account).take_turn());
}

}  // namespace mayfly::engine
