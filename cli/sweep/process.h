// Sweeps one table while the process runs. One thread renews leases, and another thread sweeps.
//
//   Ending ending;
//   Process process(client, clock, workers, journal, ending, options, key_attributes);
//   process.start();
//   …
//   ending.end(); process.join();     // releases the leases
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "cli/sweep/departure.h"
#include "cli/sweep/leases.h"
#include "cli/sweep/pace.h"
#include "cli/sweep/rounds.h"
#include "cli/sweep/state.h"
#include "cli/sweep/tally.h"
#include "engine/base/bell.h"

namespace mayfly::sweep {

// Tells threads that the process is ending: sleeps return immediately, and no new work begins.
class Ending {
 public:
  // Sleeps. Returns false if the process is ending.
  bool wait(std::chrono::milliseconds time) const;
  void end() {
    ended_ = true;
    bell_.ring();
  }
  [[nodiscard]] const std::atomic<bool>& ended() const { return ended_; }

 private:
  std::atomic<bool> ended_{false};
  engine::Bell bell_;
};

struct ProcessOptions {
  Layout layout;
  DepartureOptions departure;
  RoundOptions round;
  std::string state_table;
  std::string me;
  std::chrono::milliseconds lease{3000};
  std::int64_t look_back_seconds = 24 * 3600;  // how far back the first sweep of a shard begins
  double write_units_max = 0;
  bool once = false;         // stop as soon as no item is due
  bool polls_clock = false;  // read the clock ten times per second, because it may jump
};

class Process {
 public:
  Process(aws::Client& client, SweepClock& clock, cli::Workers& workers, Journal& journal, Ending& ending,
          ProcessOptions options, std::vector<std::string> key_attributes);
  ~Process() { join(); }

  // The error is a human-readable sentence.
  Expected<void, std::string> start();
  void join();
  [[nodiscard]] bool is_over() const { return over_; }  // the single pass or the process has ended
  [[nodiscard]] bool went_well() const { return well_; }
  [[nodiscard]] const Tally& tally() const { return tally_; }
  [[nodiscard]] const std::string& table() const { return options_.layout.table; }

 private:
  void renew();   // runs until the process exits
  void rounds();  // runs until the process exits
  bool once();    // returns whether every item that was due was deleted
  void tell(const Rounds::Outcomes& outcomes);
  // `began` is the time at which the last round began.
  [[nodiscard]] std::chrono::milliseconds until_next(engine::Instant began) const;

  const ProcessOptions options_;
  SweepClock& clock_;
  Journal& journal_;
  Ending& ending_;
  State state_;
  Leases leases_;
  Pace pace_;
  Departures departures_;
  Tally tally_;
  Rounds rounds_;
  Tally::Counts told_;
  int failures_on_end_ = 0, unanswered_on_end_ = 0;
  std::atomic<bool> renewed_{false}, over_{false}, well_{true};
  std::thread renewing_, sweeping_;
};

}  // namespace mayfly::sweep
