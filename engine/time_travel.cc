#include "engine/time_travel.h"

#include <algorithm>

#include "engine/parts.h"
#include "engine/reaper.h"

namespace mayfly::engine {

namespace {

using Mode = ClockSetting::Mode;

ClockSetting moved(ClockSetting setting) {
  return setting.mode == Mode::real ? ClockSetting{Mode::offset} : setting;
}

}  // namespace

Advanced TimeTravel::go(Account& account, Instant to, ClockSetting arriving, bool age_streams) {
  Accounts& accounts = database_.parts().accounts;
  AccountClock& clock = account.clock();
  const Instant from = clock.now();

  // Whatever happens on the way, the clock goes on from where it came to.
  struct Arrival {
    Accounts& accounts;
    Account& account;
    ClockSetting setting;
    Instant now;
    ~Arrival() {
      account.clock().set(setting, now);
      accounts.bell().ring();
    }
  };

  Advanced result;
  {
    Arrival arrival{accounts, account, moved(clock.setting()), from};
    clock.set(arrival.setting, from);
    const auto step = [&](Instant instant) {
      if (!age_streams) account.jumped(arrival.now, instant);
      arrival.now = instant;
    };
    TimerHeap& timers = account.timers();
    Failpoints& failpoints = database_.parts().failpoints;
    const auto something_waited = [&] { return failpoints.any() && failpoints.wait_for_release(account.id()); };
    do {
      for (auto timer = timers.earliest(); timer && timer->fires <= to; timer = timers.earliest()) {
        step(std::max(arrival.now, timer->fires));
        clock.hold(arrival.now);
        accounts.save(account);
        do {
          reaper_.sweep_account(account, arrival.now, result.tables);
        } while (something_waited());
      }
    } while (something_waited());
    step(std::max(from, to));
    arrival.setting = arriving;
  }
  accounts.save(account);
  if (age_streams) reaper_.trim_streams(account);
  for (const auto& [name, count] : result.tables) result.expired += count;
  result.next_expiry = reaper_.next_expiry(account);
  result.now = clock.now();
  return result;
}

Advanced TimeTravel::advance(Account& account, Instant to, bool age_streams) {
  const std::lock_guard moving(account.moving());
  return go(account, to, moved(account.clock().setting()), age_streams);
}

Advanced TimeTravel::advance_to_next_expiry(Account& account, bool age_streams) {
  const std::lock_guard moving(account.moving());
  const std::optional<Instant> next = reaper_.next_expiry(account);
  if (!next) return {.now = account.clock().now()};
  return go(account, *next, moved(account.clock().setting()), age_streams);
}

Expected<Advanced, ClockRefusal> TimeTravel::set(Account& account, ClockSetting setting, std::optional<Instant> now,
                                                 bool age_streams) {
  Accounts& accounts = database_.parts().accounts;
  const std::lock_guard moving(account.moving());
  AccountClock& clock = account.clock();
  const Instant before = clock.now();
  const Instant wanted = setting.mode == Mode::real ? accounts.host().now() : now.value_or(before);
  if (wanted >= before) return go(account, wanted, setting, age_streams);
  if (database_.parts().catalog.has_tables(account.id())) return Unexpected{ClockRefusal::has_tables};
  account.begin_anew(setting, wanted);
  accounts.save(account);
  accounts.bell().ring();
  return Advanced{.now = clock.now()};
}

}  // namespace mayfly::engine
