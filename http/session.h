// One connection, plain or by TLS: reads requests, has them answered in order, writes the answers.
//
// Runs on its server's io thread only; an answer that may have to wait is made on the slow lane, and comes
// back. Pipelined requests that arrived together are answered in one write; no more is read while an answer
// waits to be sent. A body that is cut short was never a request: nothing of it is executed; one that takes
// too long to come is answered 408. Keeps itself alive by what it waits for. A TLS handshake has as long as a
// request that does not move.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <vector>

#include "http/connection.h"
#include "http/held_bytes.h"
#include "http/request_parser.h"
#include "http/slow_lane.h"

namespace mayfly::http {

// Executors by their concrete type: the general one costs an indirect call a wait.
using Executor = boost::asio::io_context::executor_type;
using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;

using TlsStream = boost::asio::ssl::stream<Socket>;

// Of Socket and of TlsStream.
template <class Stream>
class Session final : public Connection, public std::enable_shared_from_this<Session<Stream>> {
 public:
  using Closed = std::function<void(Connection*)>;

  // Requires: all outlive the session. `closed` is called once, from the destructor.
  Session(Stream stream, Service& service, SlowLane& slow_lane, HeldBytes& requests,
          HeldBytes& unread_answers, Closed closed);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start() override;
  void tick(std::chrono::milliseconds since_last_tick, const Patience& patience) override;
  void close() override;
  [[nodiscard]] const HeldBytes::Share& unread() const override { return unread_; }
  [[nodiscard]] const HeldBytes::Share* arriving() const override {
    return parser_ && !waiting_ && !writing_ && held_.bytes > 0 ? &held_ : nullptr;
  }
  void refuse_for_memory() override;

 private:
  using ErrorCode = boost::system::error_code;
  static constexpr bool is_tls = std::is_same_v<Stream, TlsStream>;
  Socket& socket();  // on which all of it goes

  void read();
  void make_room();  // one piece at the end of `in_`
  void write();
  // What the socket takes without waiting, which is all of most answers: its memory is then the next
  // answer's, and still in the processor's caches. Long ones wait as they must. Nothing: the client left.
  std::optional<std::size_t> send_at_once();
  void drop_sent();
  void written();  // after all was sent
  void finish();   // after the last answer
  void end_sending();
  void read_and_discard();
  // Parses and answers what was read; then reads on, writes, or closes.
  void proceed();
  // Parses once; true if that completed a request.
  bool parse_request();
  void answer();
  void send(Reply reply);
  void send_last(Reply reply);
  void hold();  // counts what waits to be sent
  // Counts what the request under way holds beyond what a connection keeps, and may: that may refuse it.
  void hold_request(std::size_t unpacked_bytes_max = 0);
  void release_request();
  void refuse_arriving(Reply reply);  // the request that has not all come

  // Answers that are made elsewhere.
  void answer_later(const Admitted& admitted, Waiting kind);
  // Reads what the client sends while we wait, behind which its end is; for too much of it nobody waits.
  void watch_client();
  void came_ahead(ErrorCode failure, std::size_t bytes);
  void next_piece();  // of a body that has a source
  enum class Piece : unsigned char { more, last, failed };
  void piece_came(const std::string& piece, Piece came);

  Stream stream_;
  Service& service_;
  SlowLane& slow_lane_;
  HeldBytes& requests_;
  HeldBytes& unread_answers_;
  Closed closed_;
  std::vector<char> in_;  // read and not yet parsed: [in_begin_, in_end_)
  std::size_t in_begin_ = 0, in_end_ = 0;
  Request request_;
  std::string known_host_;
  std::optional<RequestParser> parser_;  // of the request under way
  std::string out_;                      // answers to be sent
  std::string out_body_;                 // of the last of them, if it is large
  HeldBytes::Share held_;                // of `in_` and of the request's body
  HeldBytes::Share unread_;              // both, and what came late
  bool last_ = false;                    // nothing more is answered after what is in out_
  bool dropped_ = false;                 // the last request gets no answer
  bool unread_input_ = false;            // and the client may still be sending: let it, for a while
  std::size_t discarded_bytes_ = 0;
  bool proceeding_ = false;                  // parses and answers what was read
  bool waiting_ = false;                     // for the slow lane; `request_` is its
  SlowLane::Place place_;                    // there; kept for all of a body that has a source
  std::vector<char> ahead_;                  // read while we wait; empty: nobody watches the client
  bool end_came_ = false;                    // ahead; nobody reads again, since Asio tells of it only twice
  bool resumes_ = false;                     // with what comes ahead: nobody reads into `in_` before that
  bool handshaking_ = false;                 // TLS'
  bool writing_ = false;                     // until `written`; what is in `out_` is the socket's
  std::stop_source stop_{std::nostopstate};  // of what we wait for
  std::optional<Reply> late_;                // it came while we were writing what was before
  std::shared_ptr<BodySource> source_;       // the rest of the answer that is being sent
  std::chrono::milliseconds quiet_{0};       // since something moved
  std::chrono::milliseconds arriving_{0};    // since the first byte of the request under way
  std::chrono::milliseconds answering_{0};   // since the first byte of what is being written
};

}  // namespace mayfly::http
