// Simulates a database with its clients and background work, and compares it with a model. The seed decides
// the whole run.
//
//   const Outcome outcome = simulate(42, {});
//   if (!outcome.wrong.empty()) std::cout << outcome.wrong;   // simulate(42, {}) finds the same again
//
// Tables can have a replica in a second region. Writes to either region arrive in the other, and the last
// write prevails. In some runs the limit for old versions is so low that recoverable instants are given up.
// The simulation then checks that only those instants are lost, that the remaining old versions are within
// the limit, and that no lost instant comes back.
//
// Not simulated:
// - Exports, imports and bulk puts. Their steps run on the database's scheduler (compat/jobs), but the jobs
//   read and write buckets. Buckets are directories of the host, so a simulated crash does not affect what
//   the jobs wrote.
// - Global tables with three regions or with strong consistency.
// tests/compat and tests/engine test these together with restores, resets and the shutdown of the server.
//
// Only one thread runs at a time. The seed decides which one, what clients request, and when time passes.
// Only addresses in memory do not depend on the seed, and nothing is ordered by them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mayfly::testing {

struct SimulationOptions {
  int clients = 3;
  int requests = 60;      // requests per client
  std::string directory;  // empty: in memory, without crashes
  // The file change, counted from the start, at which the only crash happens; 0: the seed decides.
  std::uint64_t crash_at = 0;
};

struct Outcome {
  std::string wrong;               // the first error; empty if there was none
  std::vector<std::string> trace;  // requests and responses, in order
  std::uint64_t requests = 0, switches = 0, crashes = 0;
};

Outcome simulate(std::uint64_t seed, const SimulationOptions& options);

}  // namespace mayfly::testing
