#include "engine/items/recent_writes.h"

#include <algorithm>
#include <utility>

#include "engine/time/account.h"

namespace mayfly::engine {
namespace {

std::size_t bytes_of(const RecentWrite& write) {
  return sizeof(RecentWrite) + write.key.size() + write.before.size();
}

// Whether the write may have to be hidden from a read in progress with this lag.
bool may_miss(const Lag& lag, const RecentWrite& write, std::uint64_t number, Instant now) {
  if (lag.writes && number - write.number >= *lag.writes + RecentWrites::slack_writes) return false;
  return !lag.milliseconds || write.at > now - *lag.milliseconds - RecentWrites::slack_ms;
}

}  // namespace

// --- following

void RecentWrites::follow(const std::string& account, std::vector<Reach> reaches) {
  const Lock setting(setting_);
  bool any = false;
  feed_.between_commits([&] {  // so that either all changes of a transaction are noted or none are
    const Lock lock(mutex_);
    erase(account);
    if (reaches.empty()) {
      followed_.erase(account);
    } else {
      followed_[account] = std::move(reaches);
    }
    any = !followed_.empty();
    any_ = any;
  });
  if (any == subscribed_) return;
  if (any) {
    subscription_ = feed_.subscribe([this](const Change& change) { note(change); });
  } else {
    subscription_.end();
  }
  subscribed_ = any;
}

void RecentWrites::forget(TableId table) {
  if (!any()) return;
  feed_.between_commits([&] {
    const Lock lock(mutex_);
    if (const auto found = logs_.find(table); found != logs_.end()) erase(found);
  });
}

void RecentWrites::forget(std::string_view account) {
  if (!any()) return;
  feed_.between_commits([&] {
    const Lock lock(mutex_);
    erase(account);
  });
}

RecentWrites::Logs::iterator RecentWrites::erase(Logs::iterator log) {
  for (const auto& write : log->second.writes) bytes_ -= bytes_of(*write);
  return logs_.erase(log);
}

void RecentWrites::erase(std::string_view account) {
  for (auto log = logs_.begin(); log != logs_.end();)
    log = log->second.account == account ? erase(log) : std::next(log);
}

std::size_t RecentWrites::bytes() const {
  const Lock lock(mutex_);
  return bytes_;
}

bool RecentWrites::follows(std::string_view account) const {
  const Lock lock(mutex_);
  return followed_.find(account) != followed_.end();
}

// --- listening

bool RecentWrites::reaches(const Reach& reach, const Table& table) {
  return reach.table.empty() || reach.table == table.name;
}

void RecentWrites::note(const Change& change) {
  const Table& table = *change.table;
  const Commit commit = feed_.commit();
  const Lock lock(mutex_);
  heard_ = commit;
  const auto followed = followed_.find(table.account);
  if (followed == followed_.end()) return;
  if (std::none_of(followed->second.begin(), followed->second.end(),
                   [&](const Reach& reach) { return reaches(reach, table); }))
    return;
  const auto [entry, is_new] = logs_.try_emplace(table.id);
  Log& log = entry->second;
  if (is_new) {
    log.account = table.account;
    // If one commit changes several tables, its changes arrive one table at a time. So a read of a table
    // whose changes have not arrived yet may already use this commit as its horizon.
    log.forgotten = std::max(commit - 1, answered_);
  }
  if (log.latest != commit) {
    log.latest = commit;
    ++log.number;
  }
  log.writes.push_back(std::make_shared<const RecentWrite>(
      RecentWrite{commit, log.number, change.at, std::string(change.key), std::string(change.old_item)}));
  bytes_ += bytes_of(*log.writes.back());
  trim(log, followed->second, table, change.at);
}

void RecentWrites::trim(Log& log, const std::vector<Reach>& reaches, const Table& table, Instant now) {
  const auto is_needed = [&](const RecentWrite& write) {
    return std::any_of(reaches.begin(), reaches.end(), [&](const Reach& reach) {
      return RecentWrites::reaches(reach, table) && may_miss(reach.lag, write, log.number, now);
    });
  };
  while (!log.writes.empty() &&
         (log.writes.size() > writes_max || bytes_ > bytes_max || !is_needed(*log.writes.front())))
    drop_oldest(log);
}

void RecentWrites::drop_oldest(Log& log) {
  log.forgotten = log.writes.front()->commit;
  bytes_ -= bytes_of(*log.writes.front());
  log.writes.pop_front();
}

// --- reading

// Returns the latest commit that a read with this lag must see.
Commit RecentWrites::lagging(const Log& log, const Lag& lag, Instant now) {
  const auto commit_before = [&](auto write) {
    return write == log.writes.end() ? log.latest : (*write)->commit - 1;
  };
  Commit seen = log.forgotten;
  if (lag.writes && *lag.writes <= log.number) {
    const std::uint64_t last_seen = log.number - *lag.writes;
    seen = std::max(seen, commit_before(std::upper_bound(log.writes.begin(), log.writes.end(), last_seen,
                                                         [](std::uint64_t number, const auto& write) {
                                                           return number < write->number;
                                                         })));
  }
  if (lag.milliseconds) {
    const Instant last_seen = now - *lag.milliseconds;
    seen = std::max(
        seen, commit_before(std::upper_bound(log.writes.begin(), log.writes.end(), last_seen,
                                             [](Instant at, const auto& write) { return at < write->at; })));
  }
  return seen;
}

// Moves the copy's horizon to `seen` unless the horizon is already later. Returns the horizon.
Commit RecentWrites::move(Log& log, std::string_view copy, Commit seen) {
  if (log.horizons.size() >= copies_max && log.horizons.find(copy) == log.horizons.end()) {
    log.horizons.clear();
    log.forgotten = log.latest;
  }
  Commit& kept = log.horizons.try_emplace(std::string(copy), 0).first->second;
  return kept = std::max({kept, seen, log.forgotten});
}

Commit RecentWrites::horizon(const LiveTable& live, const Sight& sight) {
  if (!any() || !sight.lag || !follows(live.account().id())) return sees_all;
  const Instant now = live.account().clock().now();
  const Lock lock(mutex_);
  const auto log = logs_.find(live.id());
  if (log == logs_.end()) return answered_ = heard_;
  return move(log->second, sight.copy, lagging(log->second, *sight.lag, now));
}

template <class Visit>
void RecentWrites::look(const LiveTable& live, const Sight& sight, Commit horizon, Visit visit) {
  if (!any() || !follows(live.account().id())) return;
  feed_.between_commits([] {});  // afterwards, every write that the reader may have found has been noted
  const Lock lock(mutex_);
  const auto found = logs_.find(live.id());
  if (found == logs_.end()) return;
  Log& log = found->second;
  if (horizon != sees_all && log.forgotten <= horizon) return visit(log);
  move(log, sight.copy, log.latest);
}

Unseen RecentWrites::unseen(const LiveTable& live, const Sight& sight, Commit horizon) {
  Unseen unseen;
  look(live, sight, horizon, [&](const Log& log) {
    for (const auto& write : log.writes)
      if (write->commit > horizon) unseen.first_.try_emplace(write->key, write);
  });
  return unseen;
}

std::shared_ptr<const RecentWrite> RecentWrites::unseen(const LiveTable& live, const Sight& sight,
                                                        Commit horizon, std::string_view item_key) {
  std::shared_ptr<const RecentWrite> first;
  look(live, sight, horizon, [&](const Log& log) {
    const auto found = std::find_if(log.writes.begin(), log.writes.end(), [&](const auto& write) {
      return write->commit > horizon && write->key == item_key;
    });
    if (found != log.writes.end()) first = *found;
  });
  return first;
}

}  // namespace mayfly::engine
