#include "engine/background/stream_trimmer.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "engine/base/attempt.h"
#include "engine/tables/catalog.h"
#include "engine/tables/change_log.h"
#include "engine/time/agenda.h"

namespace mayfly::engine {
namespace {

constexpr Instant retention_ms = 24 * 3600 * 1000;
constexpr Instant trim_pause_ms = 60 * 1000;  // so that records are trimmed in batches, not one by one

// The next trim time of an account that has no streams or is being trimmed. A stream that is created in the
// meantime sets another time.
constexpr Instant no_next = std::numeric_limits<Instant>::max();

}  // namespace

class StreamTrimmer::Rounds final : public Task {
 public:
  explicit Rounds(StreamTrimmer& trimmer) : trimmer_(trimmer) {}

  // Tells the task that the account's time to trim may have changed.
  void add(Account& account) { agenda_.add(&account); }
  [[nodiscard]] std::uint64_t looks() const { return agenda_.looks(); }

 private:
  // Looks at one account from the agenda, and trims the account if its trim time has come.
  Next step() override {
    if (accounts_.empty()) accounts_ = agenda_.take(trimmer_.scheduler_->now());
    if (accounts_.empty()) {
      const auto alarm = agenda_.next_alarm();
      return alarm ? Next::at(*alarm) : Next::when_woken();
    }
    Account& account = *accounts_.back();
    accounts_.pop_back();
    const auto trim = [&] {
      if (const auto next = trimmer_.next_of(account); next && *next <= account.stream_now())
        trimmer_.trim_watched(account);
      if (const auto next = trimmer_.next_of(account)) {
        const auto left = account.clock().real_time_until(account.instant_of_stream_time(*next));
        if (left) look_again(account, *left);
      }
    };
    attempt(trim, [&](std::string_view) {
      trimmer_.look_again(account);
      look_again(account, fault_wait);
    });
    return Next::at_once();
  }

  Next failed(std::string_view) override { return Next::after(*trimmer_.scheduler_, fault_wait); }

  void look_again(Account& account, std::chrono::nanoseconds pause) {
    agenda_.set_alarm(&account, trimmer_.scheduler_->now() + std::chrono::ceil<RealTime::duration>(pause));
  }

  StreamTrimmer& trimmer_;
  Agenda agenda_;
  std::vector<Account*> accounts_;  // taken from the agenda and not looked at yet
};

StreamTrimmer::StreamTrimmer(Accounts& accounts, const Catalog& catalog, ChangeLog& change_log,
                             std::shared_ptr<Scheduler> scheduler)
    : accounts_(accounts), catalog_(catalog), change_log_(change_log), scheduler_(std::move(scheduler)) {}

void StreamTrimmer::start() {
  rounds_ = std::make_shared<Rounds>(*this);
  for (Account* account : accounts_.all()) {
    if (catalog_.has_streams(account->id())) watch(*account);
  }
}

std::uint64_t StreamTrimmer::looks() const { return rounds_ ? rounds_->looks() : 0; }

Instant StreamTrimmer::trim(Account& account) {
  const Account::Timeline timeline = account.timeline();
  // Read the time before the records, because no record that is added in the meantime is older than this
  // time. If the clock was moved back, all stored records may be later than the current time, and new records
  // will be older than the stored records, so `oldest` is never later than the current time.
  const Instant here = account.clock().now(), now = account.stream_now();
  const std::optional<Instant> found =
      change_log_.trim(account, account.instant_of_stream_time(now - retention_ms), timeline);
  const Instant oldest = std::min(found.value_or(here), here);
  account.forget_jumps_before(oldest, timeline);
  return std::max(account.stream_time_of(oldest) + retention_ms + 1, now + trim_pause_ms);
}

void StreamTrimmer::trim_watched(Account& account) {
  const std::uint64_t look = begin_look(account);
  if (!catalog_.has_streams(account.id())) return;
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

std::optional<Instant> StreamTrimmer::next_of(const Account& account) const {
  const Lock lock(mutex_);
  const auto known = watched_.find(account.id());
  if (known == watched_.end() || known->second.next == no_next) return std::nullopt;
  return known->second.next;
}

void StreamTrimmer::stream_made(Account& account) { watch(account); }

void StreamTrimmer::watch(Account& account) {
  {
    const Lock lock(mutex_);
    Watched& watched = watched_.try_emplace(account.id(), Watched{no_next}).first->second;
    if (watched.next != no_next) return;  // no record of the new stream is too old before that time
    watched.next = 0;
  }
  wake(account);
}

void StreamTrimmer::time_moved(Account& account) {
  const Account::Timeline timeline = account.timeline();
  const Instant here = account.clock().now();
  if (!catalog_.has_streams(account.id())) return account.forget_jumps_before(here, timeline);
  wake(account);
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
  if (catalog_.has_streams(account.id())) watch(account);
}

void StreamTrimmer::wake(Account& account) {
  if (!rounds_) return;
  rounds_->add(account);
  scheduler_->wake(rounds_);
}

}  // namespace mayfly::engine
