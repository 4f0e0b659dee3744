// Measures the time that a server process takes from exec to its first response.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/load.h"

namespace mayfly::bench {

// Starts `command` on the processor `server_cpu`, sends `request` to `port` from `own_cpu` until the response
// is correct, and terminates the server's process group. Returns nullopt if there is no correct response
// within `start_max` or the server exits first. Requires: the calling process has one thread.
std::optional<std::chrono::duration<double, std::milli>> time_to_first_answer(
    std::vector<std::string> command, std::uint16_t port, const Request& request, int server_cpu, int own_cpu,
    std::chrono::seconds start_max);

}  // namespace mayfly::bench
