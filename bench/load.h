// A load generator: connections that each send a request, read the answer, and send the next.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace mayfly::bench {

// A whole HTTP request, as an SDK would send it, for 127.0.0.1.
std::string dynamodb_request(std::string_view operation, std::string_view body);

// Makes the next request to send.
using Requests = std::function<const std::string&()>;

struct Load {
  double requests_per_second;
  double p50_us;
  double p99_us;
};

// Runs for `duration`, on one thread. Every answer must have status 200; the process ends if one has not.
Load generate_load(std::uint16_t port, std::size_t connections, std::chrono::milliseconds duration,
                   const Requests& requests);

// Sends one request and returns the answer's body; empty if there is no answer. Reports a status other than
// 200 on stderr and ends the process.
std::string exchange(std::uint16_t port, const std::string& request);

// A connection was accepted and a request answered, whatever the answer.
bool answers(std::uint16_t port);

}  // namespace mayfly::bench
