// `mayfly invoke NAME [EVENT]`: calls a function of a running server and prints its response.
//
//   mayfly invoke reminder event.json
//   mayfly event dynamodb --from carts | mayfly invoke reminder -
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cli/calls/server_calls.h"

namespace mayfly::cli {

inline constexpr std::size_t event_bytes_max = 6 * 1024 * 1024;  // Lambda's limit

struct InvokeCommand {
  // `response` waits for the function, `later` only queues the event, and `check` does not call the function.
  enum class How : std::uint8_t { response, later, check };
  How how = How::response;
  ServerPlace server;
  std::string function;
  std::string event;  // a file; "-": standard input; empty: the event {}
};

// Prints the function's response on standard output. Returns the exit code: 0, or 1 with a sentence on
// stderr. A function that fails prints its response and returns 1.
int run_invoke_command(const InvokeCommand& command);

}  // namespace mayfly::cli
