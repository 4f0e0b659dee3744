// An HTTP endpoint: listens on an address and answers from an emulator until it is destroyed.
//
// One io thread by default, which also executes what the requests ask for; with more threads each has
// listeners of its own on the same port and keeps its connections.
//
//   auto server = Server::start(emulator, {.port = 0});     // the error is a sentence for people
//   std::puts((*server)->url().c_str());                    // "http://127.0.0.1:41234"; "https://…" with TLS
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/expected.h"
#include "http/access.h"

namespace mayfly::compat {
class Emulator;
}

namespace mayfly::http {

struct ServerSettings {
  // An address, or "localhost": 127.0.0.1 and, where the machine has it, ::1.
  std::string host = "localhost";
  std::uint16_t port = 0;  // 0: a free one
  unsigned threads = 1;
  std::size_t connections_max = 10'000;           // of all threads together; more wait to be accepted
  std::chrono::milliseconds idle_max{600'000};    // a connection without a request under way is closed
  std::chrono::milliseconds stalled_max{60'000};  // one whose request or answer does not move
  // One whose request takes longer to come, or whose answer takes longer to go, from first byte to last.
  std::chrono::milliseconds request_max{300'000};
  std::chrono::milliseconds tick{5'000};  // how often all three are looked at
  std::size_t waiting_max =
      128;  // requests of each kind (slow_lane.h) that wait for something at once; more are refused
  // Of all requests under way: of those that have not all come, the one that has been coming for longest is
  // refused. Each thread has its share, of this and of the next, and at least 32 MB.
  std::size_t request_bytes_max = 256 * 1024 * 1024;
  std::size_t unread_bytes_max = 256 * 1024 * 1024;  // of all answers; who took nothing for longest is closed
  AccessRules access;                       // who may ask; whether it is by TLS follows from the files below
  std::string tls_cert_file, tls_key_file;  // PEM; both or none: plain HTTP
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
