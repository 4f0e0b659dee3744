// An HTTP endpoint: listens on an address and answers from an emulator until it is destroyed.
//
// By default one io thread serves the connections and executes their requests. With more threads, each thread
// has its own connections.
//
//   auto server = Server::start(emulator, {.port = 0});     // the error is a human-readable sentence
//   std::puts((*server)->url().c_str());                    // "http://127.0.0.1:41234"; "https://…" with TLS
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/base/expected.h"
#include "http/access/access.h"
#include "os/sockets.h"

namespace mayfly::compat {
class Emulator;
}

namespace mayfly::http {

struct ServerSettings {
  // An address, or "localhost": 127.0.0.1, and ::1 if the machine has it.
  std::string host = "localhost";
  std::uint16_t port = 0;  // 0: picks a free port
  unsigned threads = 1;
  // With more threads: each thread listens on the port, and the system distributes the connections among
  // them. Otherwise the first thread listens, and gives each thread a connection in turn.
  bool shares_port = os::can_share_ports;
  std::size_t connections_max = 10'000;           // over all threads; further connections wait to be accepted
  std::chrono::milliseconds idle_max{600'000};    // after this time without a request, a connection is closed
  std::chrono::milliseconds stalled_max{60'000};  // limit for a request or response that makes no progress
  // Limit for receiving a request, and for sending its response, from first byte to last.
  std::chrono::milliseconds request_max{300'000};
  std::chrono::milliseconds tick{5'000};  // interval at which these three limits are checked
  // Requests of each kind (slow_lane.h) that can wait at once; further ones are rejected.
  std::size_t waiting_max = 128;
  std::size_t request_bytes_max = 256 * 1024 * 1024;
  // Limit for the unread bytes of all responses. When the limit is exceeded, the connection that has read
  // nothing for the longest time is closed.
  std::size_t unread_bytes_max = 256 * 1024 * 1024;
  AccessRules access;                       // admission rules; `tls` in it is set from the files below
  std::string tls_cert_file, tls_key_file;  // PEM; set both for TLS, or neither for plain HTTP
};

class Server {
 public:
  // Requires: the emulator outlives the server.
  static Expected<std::unique_ptr<Server>, std::string> start(compat::Emulator& emulator,
                                                              ServerSettings settings);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] std::string url() const;

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace mayfly::http
