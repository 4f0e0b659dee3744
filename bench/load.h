// A load generator: connections that each send a request, look at its answer, and send the next.
//
// Requests come from a file, each with what its answer must hold; only answers that hold it are counted.
//
//   const std::vector<Request> requests = read_requests("get_item.requests");
//   const Load load = generate_load(8000, 16, std::chrono::milliseconds(500), requests);
//
// The file is a sequence of requests: `bytes:u32le text checks:u32le` and then so many checks, each
// `kind:u8 count:u32le bytes:u32le text`.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly::bench {

// What an answer's body must hold, whatever its white space.
struct Check {
  enum class Kind : char {
    count = 'c',  // `text` stands in it `count` times
    empty = 'e',  // the member that is called `text` is {} or not there
    whole = 'w',  // but for white space at its ends, it is `text`
  };
  Kind kind;
  std::uint32_t count;
  std::string text;
};

struct Request {
  std::string text;  // the whole HTTP request
  std::vector<Check> checks;
};

// Ends the process, with a word on stderr, if the file is not there or not whole.
std::vector<Request> read_requests(const std::string& path);

// Empty, or what is wrong with an answer of this status and body.
std::string fault(int status, std::string_view body, const std::vector<Check>& checks);

struct Load {
  std::size_t requests = 0;  // answered, and rightly
  std::size_t wrong = 0;
  std::string first_wrong;  // what was wrong, and the answer's beginning
  double seconds = 0;
  double p50_us = 0;  // of the right answers, as are p99_us
  double p99_us = 0;
};

// Requests are sent in the file's order from `first` on, by whichever connection is free, and begin anew at
// its end. Runs for `duration` and until what is under way is answered, ten seconds at most. On one thread.
Load generate_load(std::uint16_t port, std::size_t connections, std::chrono::milliseconds duration,
                   const std::vector<Request>& requests, std::size_t first = 0);

// Sends one request on a connection of its own. False: nobody listens, or the answer was not right.
bool answers_rightly(std::uint16_t port, const Request& request);

}  // namespace mayfly::bench
