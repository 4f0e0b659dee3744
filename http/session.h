// One connection: reads requests, has them answered in order, writes the answers.
//
// Runs on its server's io thread only. Pipelined requests that arrived together are answered in one write; no
// more is read while an answer waits to be sent. A body that is cut short was never a request: nothing of it is
// executed. Keeps itself alive by what it waits for.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http/reply.h"
#include "http/request.h"
#include "http/request_parser.h"

namespace mayfly::http {

// Executors by their concrete type: the general one costs an indirect call a wait.
using Executor = boost::asio::io_context::executor_type;
using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;

class Session : public std::enable_shared_from_this<Session> {
 public:
  using Handler = std::function<Reply(Request&)>;
  using Closed = std::function<void(Session*)>;

  // `handler` must outlive the session; `closed` is called once, from the destructor.
  Session(Socket socket, const Handler& handler, Closed closed);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start() { read(); }
  // Called at intervals: closes the connection if nothing moved on it for too long.
  void tick(std::chrono::milliseconds since_last_tick, std::chrono::milliseconds idle_max, std::chrono::milliseconds stalled_max);
  void close();

 private:
  void read();
  void write();
  void read_and_discard();
  // Parses and answers what was read; then reads on, writes, or closes.
  void proceed();
  // Parses once; true if that completed a request.
  bool parse_request();
  void answer();
  void send_last(Reply reply);

  Socket socket_;
  const Handler& handler_;
  Closed closed_;
  std::vector<char> in_;  // read and not yet parsed: [in_begin_, in_end_)
  std::size_t in_begin_ = 0, in_end_ = 0;
  Request request_;
  std::optional<RequestParser> parser_;    // of the request under way
  std::string out_;                        // answers to be sent
  std::string out_body_;                   // of the last of them, if it is large
  bool last_ = false;                      // nothing more is answered after what is in out_
  bool unread_input_ = false;              // and the client may still be sending: let it, for a while
  std::size_t discarded_bytes_ = 0;
  std::chrono::milliseconds quiet_{0};
};

}  // namespace mayfly::http
