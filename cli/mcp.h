// `mayfly mcp`: the Model Context Protocol on standard input and output, one message a line, until the input
// ends. What the tools ask is a running server, or an emulator of this process (main.cc opens it).
//
// Messages are begun in the order in which they come. The next begins when the one before is answered, or has
// waited for a quarter of a second: so a script of requests means what it says, and what waits (an await, an
// advance at a failpoint) can be ended by what comes after it. Standard output has nothing but messages; the
// log goes to standard error.
#pragma once

#include <string>

#include "compat/mcp/protocol.h"
#include "http/log.h"

namespace mayfly::compat::mcp {
class World;
}

namespace mayfly::http {

class EndSignals;

struct McpCommand {
  std::string url = "http://127.0.0.1:8000";
  std::string ca_file;          // whose certificates https:// may show; empty: the system's
  std::string account, region;  // empty: the key's of the environment, the server's
  bool read_only = false;
  bool own = false;      // an emulator of this process, not the server at `url`
  bool listens = false;  // and it can be reached by HTTP, too
  log::Level log_level = log::Level::info;
};

inline constexpr std::size_t mcp_line_bytes_max = 16 * 1024 * 1024;  // as HTTP's bodies
inline constexpr std::size_t mcp_waiting_max = 64;                   // messages that are not answered yet

// Reads from descriptor 0, writes to `out`, until the input ends or one of `end_signals` comes. What is
// under way then has a second to be answered.
void speak_mcp(compat::mcp::World& world, compat::mcp::ProtocolSettings settings, int out,
               const EndSignals& end_signals);

// Whose account tools are about if they do not say: --account, or the environment's key's.
std::string account_of(const McpCommand& command);

// A descriptor for what is standard output; whatever else is printed there goes to standard error from now
// on. Returns -1 if there is none to be had.
int take_standard_output();

// The tools ask the server at `command.url`, signed if the environment has a key. Returns the exit code.
int run_mcp(const McpCommand& command);

}  // namespace mayfly::http
