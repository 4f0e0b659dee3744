// A load generator. Each connection sends a request, checks the response, and sends the next request.
//
// Requests and the checks of their responses are read from a file. Only responses that pass all of their
// checks are counted.
//
//   const std::vector<Request> requests = read_requests("get_item.requests");
//   const Load load = generate_load(8000, 16, std::chrono::milliseconds(500), requests);
//
// The file is a sequence of requests `bytes:u32le text checks:u32le`, each followed by its checks
// `kind:u8 count:u32le bytes:u32le text`.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly::bench {

// A condition on a response's body. White space around members does not matter.
struct Check {
  enum class Kind : char {
    count = 'c',  // the body contains `text` exactly `count` times
    empty = 'e',  // the member named `text` is {} or missing
    whole = 'w',  // the body is `text`, apart from leading and trailing white space
  };
  Kind kind;
  std::uint32_t count;
  std::string text;
};

struct Request {
  std::string text;  // the whole HTTP request
  std::vector<Check> checks;
};

// Prints an error and exits if the file is missing or truncated.
std::vector<Request> read_requests(const std::string& path);

// The problem with a response; empty if its status is 200 and all checks pass.
std::string fault(int status, std::string_view body, const std::vector<Check>& checks);

struct Load {
  std::size_t requests = 0;  // requests that got a correct response
  std::size_t wrong = 0;
  std::string first_wrong;  // the problem, and the beginning of the response
  double seconds = 0;
  double p50_us = 0;  // latency of the correct responses
  double p99_us = 0;
};

// Sends the requests in order, starting with `first` and wrapping around at the end. Each request is sent on
// the next free connection. Runs for `duration`, then waits up to ten seconds for the requests in flight.
// Uses one thread.
Load generate_load(std::uint16_t port, std::size_t connections, std::chrono::milliseconds duration,
                   const std::vector<Request>& requests, std::size_t first = 0);

// Sends one request on a new connection. Returns false if the connection is refused or the response is wrong.
bool answers_rightly(std::uint16_t port, const Request& request);

}  // namespace mayfly::bench
