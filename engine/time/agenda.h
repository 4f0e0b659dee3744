// The accounts that a background task has to look at next: those that were added since its last look, and
// those whose alarm is due. The cost of a step therefore depends only on its work, not on the number of other
// accounts.
//
//   agenda.add(&account);                                       // something in the account has changed
//   for (Account* account : agenda.take(scheduler.now())) …
//   agenda.set_alarm(&account, instant);                        // look again at that time
//   if (const auto alarm = agenda.next_alarm()) return Next::at(*alarm);
//
// Thread-safe. An Agenda does not wake the task: call add() first, then wake the task.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/time/account.h"

namespace mayfly::engine {

// `Name` identifies an account; `Order` compares two names by account id.
template <class Name, class Order>
class AgendaOf {
 public:
  void add(const Name& account) {
    const Lock lock(mutex_);
    added_.insert(account);
  }

  // Replaces the account's previous alarm.
  void set_alarm(const Name& account, RealTime instant) {
    const Lock lock(mutex_);
    forget_alarm(account);
    alarms_.emplace(account, instant);
    order_.emplace(instant, account);
  }

  // Removes the accounts that were added and those whose alarm is not after `now`, and returns them
  // ordered by id.
  [[nodiscard]] std::vector<Name> take(RealTime now) {
    const Lock lock(mutex_);
    for (auto due = order_.begin(); due != order_.end() && due->first <= now; ++due)
      added_.insert(due->second);
    std::vector<Name> taken(added_.begin(), added_.end());
    added_.clear();
    for (const Name& account : taken) forget_alarm(account);
    looks_ += taken.size();
    return taken;
  }

  [[nodiscard]] bool any_added() const {
    const Lock lock(mutex_);
    return !added_.empty();
  }
  [[nodiscard]] std::optional<RealTime> next_alarm() const {
    const Lock lock(mutex_);
    return order_.empty() ? std::nullopt : std::optional(order_.begin()->first);
  }
  // For tests: how many accounts take() has returned so far.
  [[nodiscard]] std::uint64_t looks() const {
    const Lock lock(mutex_);
    return looks_;
  }

 private:
  struct IsBefore {
    bool operator()(const std::pair<RealTime, Name>& a, const std::pair<RealTime, Name>& b) const {
      return a.first != b.first ? a.first < b.first : Order()(a.second, b.second);
    }
  };

  void forget_alarm(const Name& account) REQUIRES(mutex_) {
    const auto alarm = alarms_.find(account);
    if (alarm == alarms_.end()) return;
    order_.erase({alarm->second, account});
    alarms_.erase(alarm);
  }

  mutable Mutex mutex_;  // held for a few instructions
  std::set<Name, Order> added_ GUARDED_BY(mutex_);
  std::map<Name, RealTime, Order> alarms_ GUARDED_BY(mutex_);
  std::set<std::pair<RealTime, Name>, IsBefore> order_ GUARDED_BY(mutex_);
  std::uint64_t looks_ GUARDED_BY(mutex_) = 0;
};

using Agenda = AgendaOf<Account*, AccountOrder>;
using AgendaOfIds = AgendaOf<std::string, std::less<>>;

}  // namespace mayfly::engine
