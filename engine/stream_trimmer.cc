#include "engine/stream_trimmer.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>

#include "engine/attempt.h"
#include "engine/parts.h"

namespace mayfly::engine {
namespace {

constexpr Instant retention_ms = 24 * 3600 * 1000;
constexpr Instant trim_pause_ms = 60 * 1000;  // records are trimmed in lots, not one by one

// Of an account without streams, and of one that is just being trimmed: who makes a stream then is heard.
constexpr Instant no_next = std::numeric_limits<Instant>::max();

}  // namespace

class StreamTrimmer::Rounds final : public Task {
 public:
  explicit Rounds(StreamTrimmer& trimmer) : trimmer_(trimmer) {}

 private:
  Next step() override {
    if (due_.empty()) return survey();
    Account& account = *due_.back();
    due_.pop_back();
    const auto trim = [&] { trimmer_.trim_watched(account); };
    attempt(trim, [&](std::string_view) {
      trimmer_.look_again(account);
      failed_.insert(&account);
    });
    return Next::at_once();
  }

  // Whose turn it is, or when it will be somebody's.
  Next survey() {
    std::optional<std::chrono::nanoseconds> pause;
    for (const auto& [account, next] : trimmer_.watched()) {
      std::optional<std::chrono::nanoseconds> left = fault_wait;
      if (next > account->stream_now()) {
        left = account->clock().real_time_until(account->instant_of_stream_time(next));
      } else if (!failed_.contains(account)) {
        due_.push_back(account);
        continue;
      }
      if (left) pause = std::min(pause.value_or(*left), *left);
    }
    failed_.clear();
    if (!due_.empty()) return Next::at_once();
    return pause ? Next::after(*trimmer_.scheduler_, *pause) : Next::when_woken();
  }

  Next failed(std::string_view) override { return Next::after(*trimmer_.scheduler_, fault_wait); }

  std::vector<Account*> due_;  // the rest of this round
  std::set<Account*> failed_;  // in this round
  StreamTrimmer& trimmer_;
};

StreamTrimmer::StreamTrimmer(Database& database, std::shared_ptr<Scheduler> scheduler)
    : database_(database), scheduler_(std::move(scheduler)) {}

void StreamTrimmer::start() {
  rounds_ = std::make_shared<Rounds>(*this);
  for (Account* account : database_.parts().accounts.all()) {
    if (database_.parts().catalog.has_streams(account->id())) watch(*account);
  }
}

Instant StreamTrimmer::trim(Account& account) {
  const Account::Timeline timeline = account.timeline();
  // Before the records are looked at: none that comes meanwhile is older. After a move back there are some
  // from the future, and those that come are older.
  const Instant here = account.clock().now(), now = account.stream_now();
  const std::optional<Instant> found = database_.parts().change_log.trim(
      account, account.instant_of_stream_time(now - retention_ms), timeline);
  const Instant oldest = std::min(found.value_or(here), here);
  account.forget_jumps_before(oldest, timeline);
  return std::max(account.stream_time_of(oldest) + retention_ms + 1, now + trim_pause_ms);
}

void StreamTrimmer::trim_watched(Account& account) {
  const std::uint64_t look = begin_look(account);
  if (!database_.parts().catalog.has_streams(account.id())) return;
  const Instant next = trim(account);
  const Lock lock(mutex_);
  Watched& watched = watched_.find(account.id())->second;
  if (watched.look == look) watched.next = std::min(watched.next, next);
}

std::uint64_t StreamTrimmer::begin_look(const Account& account) {
  const Lock lock(mutex_);
  Watched& watched = watched_.find(account.id())->second;
  watched.next = no_next;
  return ++watched.look;
}

void StreamTrimmer::look_again(const Account& account) {
  const Lock lock(mutex_);
  watched_.find(account.id())->second.next = 0;
}

std::vector<std::pair<Account*, Instant>> StreamTrimmer::watched() const {
  std::vector<std::pair<Account*, Instant>> result;
  const Lock lock(mutex_);
  for (const auto& [id, watched] : watched_) {
    if (watched.next != no_next) result.emplace_back(watched.account, watched.next);
  }
  return result;
}

void StreamTrimmer::stream_made(Account& account) { watch(account); }

void StreamTrimmer::watch(Account& account) {
  {
    const Lock lock(mutex_);
    Watched& watched = watched_.try_emplace(account.id(), Watched{&account, no_next}).first->second;
    if (watched.next != no_next) return;  // what is new is not too old before that
    watched.next = 0;
  }
  wake();
}

void StreamTrimmer::time_moved(Account& account) {
  const Account::Timeline timeline = account.timeline();
  const Instant here = account.clock().now();
  if (!database_.parts().catalog.has_streams(account.id()))
    return account.forget_jumps_before(here, timeline);
  wake();
}

void StreamTrimmer::replaced(Account& account) {
  {
    const Lock lock(mutex_);
    const auto known = watched_.find(account.id());
    if (known != watched_.end()) {
      known->second.next = no_next;
      ++known->second.look;
    }
  }
  if (database_.parts().catalog.has_streams(account.id())) watch(account);
}

void StreamTrimmer::wake() {
  if (rounds_) scheduler_->wake(rounds_);
}

}  // namespace mayfly::engine
