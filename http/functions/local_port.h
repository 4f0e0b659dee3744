// A small HTTP server on a port of the loopback address. Programs that this process has started, and Mayfly's
// own calls, use such ports; their answers may take as long as they need (a runtime waits hours for its next
// invocation), so they would block the threads of http/connections.
//
//   auto port = LocalPort::open(io, [](std::shared_ptr<Exchange> exchange) {
//     exchange->answer({.body = "{}"});
//   });
//
// - Everything runs on the thread that runs `io`.
// - The rules for Host are those of access.h. Requests of web pages are rejected, whatever their origin.
// - Connections are kept. A client can send one request at a time.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/expected.h"

namespace mayfly::http {

struct LocalReply {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};
  std::string content_type = "application/json";
};

// The body of an error as Lambda and its runtimes write it: {"errorType":…,"errorMessage":…}.
std::string error_body(std::string_view type, std::string_view message);
LocalReply error_reply(int status, std::string_view type, std::string_view message);

// A request, and the way to answer it.
class Exchange {
 public:
  virtual ~Exchange() = default;
  std::string method, target, body;
  bool is_too_large = false;  // the body, which is therefore missing

  // Ignoring case; empty: there is no such header.
  [[nodiscard]] virtual std::string_view header(std::string_view name) const = 0;
  // Only the first answer counts.
  virtual void answer(LocalReply reply) = 0;
  // `gone` is called if the client disconnects before the answer.
  virtual void when_gone(std::function<void()> gone) = 0;
};

class LocalPort {
 public:
  using Handler = std::function<void(std::shared_ptr<Exchange>)>;
  static constexpr std::size_t connections_max = 128;

  // Further connections wait. `disconnected` is called after each connection has ended. The error is a
  // sentence.
  static Expected<std::unique_ptr<LocalPort>, std::string> open(boost::asio::io_context& io, Handler handler,
                                                                std::size_t body_bytes_max,
                                                                std::function<void()> disconnected = {});
  // Closes all connections. Neither function is called afterwards.
  ~LocalPort();
  LocalPort(const LocalPort&) = delete;
  LocalPort& operator=(const LocalPort&) = delete;

  [[nodiscard]] std::string address() const;  // "127.0.0.1:41234"

  class State;  // only local_port.cc uses it

 private:
  explicit LocalPort(std::shared_ptr<State> state);
  const std::shared_ptr<State> state_;
};

}  // namespace mayfly::http
