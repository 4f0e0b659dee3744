// mayfly_simulation: runs seeds in sequence until a run finds an error or the time is up.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <optional>
#include <sched.h>

#include "tests/simulation/simulation.h"

namespace mayfly::testing {
namespace {

// The simulation's threads take turns. On a single processor, a switch does not wait for another processor to
// wake up.
void stay_on_one_processor() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
  static_cast<void>(sched_setaffinity(0, sizeof one, &one));
}

int tell_stories(int argc, char** argv) {
  CLI::App app("Simulates clients, expiry and background work in an order that depends on a seed.");
  std::uint64_t seed = 1, seeds = 1;
  std::optional<std::uint64_t> seconds;
  bool trace = false, each_crash = false;
  SimulationOptions options;
  app.add_option("--seed", seed, "the first seed");
  app.add_option("--seeds", seeds, "number of seeds");
  app.add_option("--seconds", seconds, "start no further run after this time");
  // The number is limited because the model may have to try every order of the clients' requests.
  app.add_option("--clients", options.clients, "number of concurrent clients")->check(CLI::Range(1, 6));
  app.add_option("--requests", options.requests, "number of requests of each client");
  app.add_option("--crash-at", options.crash_at, "crash at this file change; needs --directory");
  app.add_option("--directory", options.directory, "simulate on disk, with crashes; emptied for each seed");
  app.add_flag("--each-crash", each_crash,
               "repeat each seed with a crash at the first file change, at the second, ...");
  app.add_flag("--trace", trace, "print requests and responses of each seed");
  CLI11_PARSE(app, argc, argv);
  stay_on_one_processor();

  std::uint64_t stories = 0, requests = 0, switches = 0, crashes = 0, ran = 0;
  const auto began = std::chrono::steady_clock::now();
  auto told = began;
  const auto time_is_up = [&] {
    return seconds && std::chrono::steady_clock::now() - began > std::chrono::seconds(*seconds);
  };
  // Returns false if an error was found.
  const auto tell = [&](std::uint64_t number, Outcome& outcome) {
    outcome = simulate(number, options);
    ++stories;
    requests += outcome.requests;
    switches += outcome.switches;
    crashes += outcome.crashes;
    if (trace || !outcome.wrong.empty()) {
      for (const auto& line : outcome.trace) std::cout << line << "\n";
    }
    if (!outcome.wrong.empty()) {
      std::cout << "seed " << number;
      if (options.crash_at != 0) std::cout << " --crash-at " << options.crash_at;
      std::cout << ": " << outcome.wrong << "\n";
      return false;
    }
    if (const auto now = std::chrono::steady_clock::now(); now - told > std::chrono::seconds(5)) {
      told = now;
      std::cerr << number - seed + 1 << " of " << seeds << " seeds, " << stories << " runs, " << requests
                << " requests\n";
    }
    return true;
  };
  Outcome outcome;
  for (; ran < seeds && !time_is_up(); ++ran) {
    if (each_crash) options.crash_at = 1;
    do {
      if (!tell(seed + ran, outcome)) return 1;
    } while (each_crash && outcome.crashes != 0 && ++options.crash_at != 0 && !time_is_up());
  }
  std::cout << ran << " seeds from " << seed << ", " << stories << " runs, " << requests << " requests, "
            << switches << " switches, " << crashes << " crashes: no errors\n";
  return 0;
}

}  // namespace
}  // namespace mayfly::testing

int main(int argc, char** argv) { return mayfly::testing::tell_stories(argc, argv); }
