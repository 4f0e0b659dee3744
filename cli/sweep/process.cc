#include "cli/sweep/process.h"

#include <algorithm>
#include <system_error>

namespace mayfly::sweep {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds clock_poll{100}, failure_pause_max{20'000};

}  // namespace

bool Ending::wait(milliseconds time) const {
  const auto ticket = bell_.ticket();
  if (!ended_ && time.count() > 0) bell_.wait(ticket, engine::host_time() + time);
  return !ended_;
}

Process::Process(aws::Client& client, SweepClock& clock, cli::Workers& workers, Journal& journal,
                 Ending& ending, ProcessOptions options, std::vector<std::string> key_attributes)
    : options_(std::move(options)),
      clock_(clock),
      journal_(journal),
      ending_(ending),
      state_(client, options_.layout, options_.state_table),
      leases_(state_, {.me = options_.me,
                       .lease = options_.lease,
                       .shards = options_.layout.shards,
                       .alone = options_.once}),
      pace_(options_.write_units_max, [&ending](milliseconds time) { return ending.wait(time); }),
      departures_(client, options_.layout, std::move(key_attributes), pace_, options_.departure),
      rounds_({client, options_.layout, departures_, state_, leases_, clock, workers, tally_, journal,
               ending.ended()},
              options_.round) {}

Expected<void, std::string> Process::start() {
  if (options_.departure.dry_run) {
    const auto now = clock_.now();
    if (!now) return Unexpected{now.error()};
    const auto rows = state_.read();  // after an error, continues as if the table had never been swept
    leases_.assume(rows ? rows->shards : std::map<int, ShardRow>(),
                   window_of(*now / 1000 - options_.look_back_seconds, options_.layout.window_seconds));
    renewed_ = true;
  } else {
    CHECK_OK(state_.agree_on_settings());
  }
  try {
    if (!options_.departure.dry_run) renewing_ = std::thread([this] { renew(); });
    sweeping_ = std::thread([this] { rounds(); });
  } catch (const std::system_error&) {
    return Unexpected{std::string("cannot start a thread to sweep table ") + table()};
  }
  return {};
}

void Process::join() {
  if (sweeping_.joinable()) sweeping_.join();
  if (renewing_.joinable()) renewing_.join();
}

void Process::renew() {
  const auto pause = std::max(options_.lease / 3, milliseconds(1));
  do {
    const auto now = clock_.now();
    const std::int64_t first =
        window_of(now ? *now / 1000 - options_.look_back_seconds : 0, options_.layout.window_seconds);
    // Without a clock, the first watermark of a shard that has never been swept is unknown.
    const auto renewed = now ? leases_.renew(first)
                             : Expected<Leases::Renewed, aws::Failure>(
                                   Unexpected{aws::Failure{.name = "NoClock", .message = now.error()}});
    if (!renewed) {
      journal_.write(Journal::Level::warning, "lease_failed",
                     {{"table", table()}, {"message", renewed.error().sentence()}});
      continue;
    }
    renewed_ = true;
    tally_.set_sweepers(renewed->sweepers);
    if (!renewed->taken.empty() || !renewed->released.empty() || !renewed->lost.empty())
      journal_.write(Journal::Level::info, "shards",
                     {{"table", table()},
                      {"sweepers", renewed->sweepers},
                      {"taken", renewed->taken.size()},
                      {"released", renewed->released.size()},
                      {"lost", renewed->lost.size()}});
  } while (!over_ && ending_.wait(pause));
  leases_.end();
}

void Process::rounds() {
  if (options_.once) {
    well_ = once();
  } else {
    while (!ending_.ended()) {
      const Rounds::Outcomes outcomes = rounds_.sweep();
      tell(outcomes);
      unanswered_on_end_ = outcomes.unanswered > 0 ? std::min(unanswered_on_end_ + 1, 10) : 0;
      if (!ending_.wait(until_next(outcomes.now))) break;
    }
  }
  over_ = true;
}

bool Process::once() {
  // The shards of a killed sweeper become available when its lease ends.
  const auto deadline = engine::host_time() + options_.lease * 2;
  for (;;) {
    const Rounds::Outcomes outcomes = rounds_.sweep();
    tell(outcomes);
    if (ending_.ended()) return false;
    const bool holds_all = leases_.held().size() == static_cast<std::size_t>(options_.layout.shards);
    const bool waits = !options_.departure.dry_run && !holds_all && engine::host_time() < deadline;
    if (outcomes.whole && outcomes.settled == 0 && renewed_ && !waits) return true;
    // A dry run changes nothing, so another round would find the same items.
    if (outcomes.whole && options_.departure.dry_run) return true;
    if (outcomes.failed > 0 && ++failures_on_end_ > 5) return false;
    if (outcomes.settled == 0) ending_.wait(milliseconds(50));
  }
}

void Process::tell(const Rounds::Outcomes& outcomes) {
  if (outcomes.settled == 0 && outcomes.failed == 0) return;
  const Tally::Counts now = tally_.counts();
  const auto since = [&](Outcome outcome) { return now.of(outcome) - told_.of(outcome); };
  journal_.write(outcomes.failed > 0 ? Journal::Level::warning : Journal::Level::info, "swept",
                 {{"table", table()},
                  {"deleted", since(Outcome::deleted)},
                  {"rearmed", since(Outcome::rearmed)},
                  {"lost", since(Outcome::lost)},
                  {"released", since(Outcome::released)},
                  {"failed", outcomes.failed},
                  {"throttles", now.throttles - told_.throttles}});
  told_ = now;
}

milliseconds Process::until_next(engine::Instant began) const {
  if (unanswered_on_end_ > 0) return std::min(failure_pause_max, milliseconds(250 << unanswered_on_end_));
  if (options_.polls_clock) return clock_poll;
  const auto now = clock_.now();
  if (!now) return milliseconds(1000);
  // An item that is due at a second expires one millisecond after that second begins. The next second may
  // have begun during the round.
  return milliseconds(std::max<engine::Instant>((began / 1000 + 1) * 1000 + 1 - *now, 0));
}

}  // namespace mayfly::sweep
