// One connection: reads requests, has them answered in order, writes the answers.
//
// Runs on its server's io thread only; an answer that may have to wait is made on the slow lane, and comes
// back. Pipelined requests that arrived together are answered in one write; no more is read while an answer
// waits to be sent. A body that is cut short was never a request: nothing of it is executed. Keeps itself
// alive by what it waits for.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "http/access.h"
#include "http/reply.h"
#include "http/request.h"
#include "http/request_parser.h"
#include "http/slow_lane.h"
#include "http/unread_answers.h"

namespace mayfly::http {

// Executors by their concrete type: the general one costs an indirect call a wait.
using Executor = boost::asio::io_context::executor_type;
using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;

// What a server's sessions answer with. Thread-safe.
class Service {
 public:
  virtual ~Service() = default;
  // As what the request may have to wait: then it is answered on the slow lane. Nothing: it never waits.
  [[nodiscard]] virtual std::optional<Waiting> waits_as(const Request& request) const = 0;
  // Whoever is not admitted gets the Reply instead. `known_host`: access.h's.
  virtual Expected<Admitted, Reply> admit(Request& request, std::string& known_host) const = 0;
  // Must not throw. `stop`: nobody waits for the answer any more.
  virtual Reply answer(const Admitted& admitted, const std::stop_token& stop) = 0;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  using Closed = std::function<void(Session*)>;

  // Requires: all outlive the session. `closed` is called once, from the destructor.
  Session(Socket socket, Service& service, SlowLane& slow_lane, UnreadAnswers& unread_answers, Closed closed);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start() { read(); }
  // Called at intervals: closes the connection if nothing moved on it for too long.
  void tick(std::chrono::milliseconds since_last_tick, std::chrono::milliseconds idle_max,
            std::chrono::milliseconds stalled_max);
  void close();
  [[nodiscard]] const UnreadAnswers::Share& unread() const { return unread_; }

 private:
  void read();
  void make_room();  // one piece at the end of `in_`
  void write();
  void read_and_discard();
  // Parses and answers what was read; then reads on, writes, or closes.
  void proceed();
  // Parses once; true if that completed a request.
  bool parse_request();
  void answer();
  void send(Reply reply);
  void send_last(Reply reply);
  void hold();  // counts what waits to be sent

  // Answers that are made elsewhere.
  void answer_later(const Admitted& admitted, Waiting kind);
  void watch_client();  // that leaves while we wait
  void read_ahead();    // what it sends meanwhile, behind which its end is; for too much of it nobody waits
  void next_piece();    // of a body that has a source
  void piece_came(const std::string& piece, bool more);

  Socket socket_;
  Service& service_;
  SlowLane& slow_lane_;
  UnreadAnswers& unread_answers_;
  Closed closed_;
  std::vector<char> in_;  // read and not yet parsed: [in_begin_, in_end_)
  std::size_t in_begin_ = 0, in_end_ = 0;
  Request request_;
  std::string known_host_;
  std::optional<RequestParser> parser_;  // of the request under way
  std::string out_;                      // answers to be sent
  std::string out_body_;                 // of the last of them, if it is large
  UnreadAnswers::Share unread_;          // both, and what came late
  bool last_ = false;                    // nothing more is answered after what is in out_
  bool unread_input_ = false;            // and the client may still be sending: let it, for a while
  std::size_t discarded_bytes_ = 0;
  bool waiting_ = false;                     // for the slow lane; `request_` is its
  SlowLane::Place place_;                    // there; kept for all of a body that has a source
  bool watching_ = false;                    // the client
  bool writing_ = false;                     // `out_` is the socket's
  std::stop_source stop_{std::nostopstate};  // of what we wait for
  std::optional<Reply> late_;                // it came while we were writing what was before
  std::shared_ptr<BodySource> source_;       // the rest of the answer that is being sent
  std::chrono::milliseconds quiet_{0};
};

}  // namespace mayfly::http
