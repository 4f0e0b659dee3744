// `mayfly mcp`: the Model Context Protocol on standard input and output, one message per line, until the
// input ends. The tools call a running server, or an emulator in this process, which main.cc opens.
//
// Messages are handled in the order in which they arrive. Handling of a message starts when the previous
// message has been answered or has been in progress for a quarter of a second. So the requests of a script
// take effect in order, and a later message can end a call that waits, such as an await or an advance at a
// failpoint. Standard output carries only messages. The log goes to standard error.
#pragma once

#include <string>

#include "compat/mcp/protocol.h"
#include "http/base/log.h"

namespace mayfly::compat::mcp {
class World;
}
namespace mayfly::os {
class File;
}

namespace mayfly::cli {

class EndSignals;

struct McpCommand {
  std::string url = "http://127.0.0.1:8000";
  std::string ca_file;          // trusted certificates for https://; empty: the system's certificates
  std::string account, region;  // if empty, the account of the environment's key and the server's region
  bool read_only = false;
  bool own = false;      // use an emulator in this process, not the server at `url`
  bool listens = false;  // the emulator is also reachable over HTTP
  http::log::Level log_level = http::log::Level::info;
};

inline constexpr std::size_t mcp_line_bytes_max = 16 * 1024 * 1024;  // the same limit as for HTTP bodies
inline constexpr std::size_t mcp_waiting_max = 64;                   // unanswered messages

// Reads from standard input and writes to `out` until the input ends or a signal of `end_signals` arrives.
// Requests in progress then have one second to finish, or 0.3 seconds after a signal.
void speak_mcp(compat::mcp::World& world, compat::mcp::ProtocolSettings settings, const os::File& out,
               const EndSignals& end_signals);

// Returns the tools' default account: --account, or the account of the environment's key.
std::string account_of(const McpCommand& command);

// Runs the tools against the server at `command.url`, with signed requests if the environment has a key.
// Returns the exit code.
int run_mcp(const McpCommand& command);

}  // namespace mayfly::cli
