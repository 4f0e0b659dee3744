// One connection, plain or TLS: reads requests, gets them answered in order, and writes the responses.
//
// - Runs on its server's io thread only. A response that may have to wait is made on the slow lane and handed
//   back.
// - Pipelined requests that arrived together are answered in one write. Nothing more is read while a
//   response waits to be sent.
// - A request with a truncated body is not executed at all. A request that takes too long to arrive gets 408.
// - Pending operations keep the session alive.
// - A TLS handshake has the time limit of a request that makes no progress.
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

#include "http/base/held_bytes.h"
#include "http/base/slow_lane.h"
#include "http/connections/connection.h"
#include "http/endpoints/router.h"
#include "http/requests/reply.h"
#include "http/requests/request.h"
#include "http/requests/request_parser.h"

namespace mayfly::http {

// The concrete executor type avoids the indirect call per wait that the type-erased executor costs.
using Executor = boost::asio::io_context::executor_type;
using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;

using TlsStream = boost::asio::ssl::stream<Socket>;

// Stream: Socket or TlsStream.
template <class Stream>
class Session final : public Connection, public std::enable_shared_from_this<Session<Stream>> {
 public:
  using Closed = std::function<void(Connection*)>;

  // `closed` is called once, from the destructor.
  // Requires: all references outlive the session.
  Session(Stream stream, const Router& router, SlowLane& slow_lane, HeldBytes& requests,
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
  Socket& socket();  // the underlying socket

  void read();
  void make_room();  // for one piece at the end of `in_`
  void write();
  // Sends as much as the socket takes without waiting. Most responses are sent whole, so that their memory is
  // reused for the next response while it is still in the processor's caches. Returns the number of bytes
  // sent, or nullopt if the client disconnected. The caller sends the rest asynchronously.
  std::optional<std::size_t> send_at_once();
  void drop_sent();
  void written();  // called after everything was sent
  void finish();   // called after the last response
  void end_sending();
  void read_and_discard();
  // Parses and answers the input; then reads more, writes, or closes.
  void proceed();
  // Parses once. Returns true if that completed a request.
  bool parse_request();
  void answer();
  void send(Reply reply);
  void send_last(Reply reply);
  void hold();  // counts the bytes that wait to be sent
  // Counts the memory that the current request holds, beyond what a connection keeps, and the memory it may
  // still need. May reject the request.
  void hold_request(std::size_t unpacked_bytes_max = 0);
  void release_request();
  void refuse_arriving(Reply reply);  // rejects the request that has not fully arrived

  // Makes the response on the slow lane.
  void answer_later(const Admitted& admitted, Waiting kind);
  // Reads ahead while the request waits, to notice that the client disconnects. A client that sends too much
  // meanwhile is disconnected.
  void watch_client();
  void came_ahead(ErrorCode failure, std::size_t bytes);
  void next_piece();  // gets the next piece of a body that has a source
  enum class Piece : unsigned char { more, last, failed };
  void piece_came(const std::string& piece, Piece came);

  Stream stream_;
  const Router& router_;
  SlowLane& slow_lane_;
  HeldBytes& requests_;
  HeldBytes& unread_answers_;
  Closed closed_;
  std::vector<char> in_;  // read and not yet parsed: [in_begin_, in_end_)
  std::size_t in_begin_ = 0, in_end_ = 0;
  Request request_;
  std::string known_host_;
  std::optional<RequestParser> parser_;  // parses the current request
  std::string out_;                      // responses to be sent
  std::string out_body_;                 // the body of the last response, if that body is large
  HeldBytes::Share held_;                // bytes of `in_` and of the request's body
  HeldBytes::Share unread_;              // bytes of `out_`, `out_body_` and `late_`
  bool last_ = false;                    // no more requests are answered after the responses in out_
  bool dropped_ = false;                 // the last request gets no response
  bool unread_input_ = false;  // the client may still be sending; its input is discarded for a while
  std::size_t discarded_bytes_ = 0;
  bool proceeding_ = false;   // proceed() is parsing and answering the input
  bool waiting_ = false;      // waiting for the slow lane, which uses `request_`
  SlowLane::Place place_;     // slot on the slow lane; kept until the end of a body that has a source
  std::vector<char> ahead_;   // buffer for reading ahead; empty: nothing is reading ahead
  bool end_came_ = false;     // found while reading ahead; do not read again: Asio reports an end only twice
  bool resumes_ = false;      // the read-ahead continues the connection; nothing reads into `in_` before that
  bool handshaking_ = false;  // TLS handshake
  bool writing_ = false;      // from write() until written(), while the socket uses `out_`
  std::stop_source stop_{std::nostopstate};  // stops the request that waits
  std::optional<Reply> late_;                // a response that arrived while earlier ones were being written
  std::shared_ptr<compat::BodySource> source_;  // the rest of the response that is being sent
  std::chrono::milliseconds quiet_{0};          // since the last progress
  std::chrono::milliseconds arriving_{0};       // since the first byte of the current request
  std::chrono::milliseconds answering_{0};      // since the first byte of the responses being written
};

}  // namespace mayfly::http
