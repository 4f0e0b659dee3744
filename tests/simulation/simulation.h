// One seed's whole story: a database, its clients, what runs by itself, and whether all of it was right.
//
//   const Outcome outcome = simulate(42, {});
//   if (!outcome.wrong.empty()) std::cout << outcome.wrong;   // simulate(42, {}) says the same again
//
// Tables may have a replica in a second region: what is written in either arrives in the other, and the later
// write stays. In some stories old versions have so little room that instants are given up: those alone, what
// is left is within its bound, and nothing comes back.
//
// Not part of it are exports, imports and bulk puts: their runner (compat/jobs) steps by the database's
// scheduler as all does, but what they read and write are buckets, whose directories are the host's, beneath
// the files that crash here; and global tables of three regions or with strong consistency. tests/compat and
// tests/engine have tests of each beside restores, resets and the server's end.
//
// One thread runs at a time; the seed says which, what clients ask, when time passes. What does not follow
// the seed: addresses in memory (nothing is ordered by them).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mayfly::testing {

struct SimulationOptions {
  int clients = 3;
  int requests = 60;      // of each client
  std::string directory;  // empty: in memory; else it crashes now and then
  std::uint64_t crash_at =
      0;  // the first life's change of a file that crashes, and no other; 0: as the seed says
};

struct Outcome {
  std::string wrong;               // the first thing that was; empty: none
  std::vector<std::string> trace;  // requests and answers, in order
  std::uint64_t requests = 0, switches = 0, crashes = 0;
};

Outcome simulate(std::uint64_t seed, const SimulationOptions& options);

}  // namespace mayfly::testing
