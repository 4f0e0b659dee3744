// A server as a process of its own, of which is measured how long it takes from exec to its first answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/load.h"

namespace mayfly::bench {

// Starts `command` with the processor `server_cpu`, sends `request` to `port` from `own_cpu` until it is
// answered rightly, and ends the server and what it started. Nothing if it is not answered within
// `start_max`, or the server ends before. Requires: the caller has one thread.
std::optional<std::chrono::duration<double, std::milli>> time_to_first_answer(
    std::vector<std::string> command, std::uint16_t port, const Request& request, int server_cpu, int own_cpu,
    std::chrono::seconds start_max);

}  // namespace mayfly::bench
