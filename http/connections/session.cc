#include "http/connections/session.h"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <utility>

#include "compat/server_metrics.h"
#include "engine/base/attempt.h"
#include "engine/base/hurry.h"
#include "http/access/sigv4.h"
#include "http/base/log.h"
#include "http/base/tls.h"
#include "http/requests/refusals.h"

namespace mayfly::http {

namespace {

namespace asio = boost::asio;
using boost::beast::http::error;

// An idle connection holds at most `input_bytes`; a long body is read in pieces of `body_input_bytes`.
constexpr std::size_t input_bytes = 4 * 1024;
constexpr std::size_t body_input_bytes = 64 * 1024;
// Pipelined requests are parsed only while fewer response bytes than this wait to be sent.
constexpr std::size_t output_bytes_max = 64 * 1024;
// The maximum size of the buffer that a connection keeps for its next responses.
constexpr std::size_t kept_output_bytes_max = 16 * 1024;
// The number of bytes that are written before other connections get their turn. A client counts as reading
// once it has received this many bytes.
constexpr std::size_t written_at_once_bytes_max = 64 * 1024;
// If a client keeps sending after the last response, up to this many bytes are read and discarded, so that
// the client receives the response instead of a reset.
constexpr std::size_t discarded_bytes_max = 256 * 1024 * 1024;

// The maximum ratio of decompressed to compressed bytes.
constexpr std::size_t deflate_ratio_max = 1032;

// The time that a request may use on an io thread while other requests wait. A page of 1 MB of ordinary items
// takes less time.
constexpr std::int64_t io_nanoseconds_max = 5'000'000;

constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

template <class Stream>
Session<Stream>::Session(Stream stream, const Router& router, SlowLane& slow_lane, HeldBytes& requests,
                         HeldBytes& unread_answers, Closed closed)
    : stream_(std::move(stream)),
      router_(router),
      slow_lane_(slow_lane),
      requests_(requests),
      unread_answers_(unread_answers),
      closed_(std::move(closed)),
      in_(input_bytes) {
  request_.keeps_all_headers = router.needs_all_headers();
  router.metrics().add(compat::Meter::connections);
}

template <class Stream>
Session<Stream>::~Session() {
  router_.metrics().add(compat::Meter::connections, -1);
  requests_.release(held_);
  unread_answers_.release(unread_);
  closed_(this);
}

template <class Stream>
Socket& Session<Stream>::socket() {
  if constexpr (is_tls) {
    return stream_.next_layer();
  } else {
    return stream_;
  }
}

template <class Stream>
void Session<Stream>::start() {
  if constexpr (is_tls) {
    handshaking_ = true;
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [self = this->shared_from_this()](ErrorCode failure) {
                              self->handshaking_ = false;
                              self->quiet_ = {};
                              if (!failure) return self->read();
                              if (const std::string why = handshake_failure(failure); !why.empty())
                                log::write(log::Level::warning, why);
                            });
  } else {
    ErrorCode ignored;  // on failure, all writes are asynchronous
    socket().non_blocking(true, ignored);
    read();
  }
}

template <class Stream>
void Session<Stream>::hold() {
  unread_answers_.hold(unread_, out_.size() + out_body_.capacity() + (late_ ? late_->body.capacity() : 0));
}

template <class Stream>
void Session<Stream>::close() {
  unread_answers_.release(unread_);
  stop_.request_stop();
  ErrorCode ignored;
  // The kernel must not keep the data that the client did not read.
  if (writing_) socket().set_option(asio::socket_base::linger(true, 0), ignored);
  socket().close(ignored);
}

template <class Stream>
void Session<Stream>::tick(std::chrono::milliseconds since_last_tick, const Patience& patience) {
  if (waiting_ || !socket().is_open()) return;
  quiet_ += since_last_tick;
  if (parser_) arriving_ += since_last_tick;
  if (writing_) answering_ += since_last_tick;
  const bool waiting_for_request = !handshaking_ && !parser_ && out_.empty() && !last_;
  const auto close_as = [&](compat::Meter why) {
    router_.metrics().add(why);
    close();
  };
  if (waiting_for_request) {
    if (quiet_ >= patience.idle_max) close_as(compat::Meter::closed_idle);
  } else if (quiet_ >= patience.stalled_max) {
    close_as(compat::Meter::closed_stalled);
  } else if (writing_ && answering_ >= patience.request_max) {
    close_as(compat::Meter::closed_slow);
  } else if (parser_ && !writing_ && arriving_ >= patience.request_max) {
    router_.metrics().add(compat::Meter::closed_slow);
    refuse_arriving(too_slow(patience.request_max));
  }
}

// First cancels the pending read, because the discarding read that may follow must be the only read.
template <class Stream>
void Session<Stream>::refuse_arriving(Reply reply) {
  ErrorCode ignored;
  socket().cancel(ignored);
  resumes_ = false;
  parser_.reset();
  release_request();
  send_last(std::move(reply));
  if (!proceeding_) write();
}

template <class Stream>
void Session<Stream>::refuse_for_memory() {
  router_.metrics().add(compat::Meter::refused_bytes);
  refuse_arriving(too_many_bytes());
}

template <class Stream>
void Session<Stream>::hold_request(std::size_t unpacked_bytes_max) {
  const auto beyond = [](std::size_t bytes, std::size_t kept) { return bytes > kept ? bytes : 0; };
  const std::size_t bytes = beyond(in_.size(), input_bytes) + unpacked_bytes_max +
                            beyond(request_.body.capacity(), kept_body_bytes_max);
  if (bytes > 0 || held_.bytes > 0) requests_.hold(held_, bytes);
}

template <class Stream>
void Session<Stream>::release_request() {
  request_.release_body();
  requests_.release(held_);
}

template <class Stream>
void Session<Stream>::make_room() {
  if (in_begin_ == 0) return;
  std::copy(in_.begin() + static_cast<std::ptrdiff_t>(in_begin_),
            in_.begin() + static_cast<std::ptrdiff_t>(in_end_), in_.begin());
  in_end_ -= in_begin_;
  in_begin_ = 0;
}

template <class Stream>
void Session<Stream>::read() {
  if (!ahead_.empty()) {
    resumes_ = true;
    return;
  }
  if (end_came_) return;  // the client disconnected
  make_room();
  const bool in_body = parser_ && parser_->is_header_done();
  if (in_body && in_.size() < body_input_bytes) {
    in_.resize(body_input_bytes);
  } else if (!in_body && in_end_ == 0 && in_.size() > input_bytes) {
    std::vector<char>(input_bytes).swap(in_);
  } else if (in_end_ == in_.size()) {
    in_.resize(in_.size() * 2);  // bounded: the size limit for headers and chunk headers is reached first
  }
  stream_.async_read_some(asio::buffer(in_.data() + in_end_, in_.size() - in_end_),
                          [self = this->shared_from_this()](ErrorCode failure, std::size_t bytes) {
                            if (failure || self->last_) return;  // the client disconnected, or was too slow
                            self->quiet_ = {};
                            self->in_end_ += bytes;
                            self->proceed();
                          });
}

template <class Stream>
void Session<Stream>::proceed() {
  proceeding_ = true;
  while (!last_ && !waiting_ && !source_ && out_.size() < output_bytes_max && out_body_.empty() &&
         in_begin_ < in_end_) {
    if (!parse_request()) break;
    answer();
  }
  proceeding_ = false;
  if (!out_.empty()) {
    write();
  } else if (source_ && !waiting_) {
    next_piece();
  } else if (!last_ && !waiting_) {
    read();
  } else if (last_ && !source_) {
    finish();  // the last answer was dropped
  }
}

template <class Stream>
bool Session<Stream>::parse_request() {
  if (!parser_) {
    parser_.emplace(request_);
    arriving_ = {};
  }
  const bool had_header = parser_->is_header_done();
  ErrorCode failure;
  in_begin_ += parser_->parse(asio::buffer(in_.data() + in_begin_, in_end_ - in_begin_), failure);
  const std::size_t unparsed = in_end_ - in_begin_;
  hold_request();
  if (last_) return false;  // refused

  if (failure == error::body_limit) {
    send_last(too_large());
  } else if (failure == error::header_limit) {
    send_last(bad_request("The request line and headers are longer than 16 KB."));
  } else if (failure == error::need_more && parser_->is_header_done() && unparsed > header_bytes_max) {
    send_last(bad_request("A chunk's header is longer than 16 KB."));
  } else if (failure && failure != error::need_more) {
    send_last(bad_request("Malformed HTTP request: " + failure.message() + "."));
  } else if (parser_->is_done()) {
    return true;
  } else if (!had_header && parser_->is_header_done() && unparsed == 0 && request_.body.empty() &&
             equals_ignoring_case(request_.header(Header::expect), "100-continue")) {
    out_ += go_on;
  }
  return false;
}

template <class Stream>
void Session<Stream>::answer() {
  auto admitted = router_.admit(request_, known_host_);
  if (!admitted) return send(std::move(admitted).error());
  if (const auto kind = router_.waits_as(request_)) return answer_later(*admitted, *kind);
  auto because = engine::NotNow::Because::it_works;
  try {
    const engine::Hurry hurry(io_nanoseconds_max);
    Reply reply = router_.answer(*admitted, {});
    engine::Hurry::end();
    return send(std::move(reply));
  } catch (const engine::NotNow& why) {
    because = why.because;
  }
  router_.metrics().add(compat::Meter::handed_over);
  answer_later(*admitted,
               because == engine::NotNow::Because::it_works ? Waiting::processors : Waiting::locks);
}

template <class Stream>
void Session<Stream>::send(Reply reply) {
  const bool stays = parser_->keep_alive() && !reply.close;
  parser_.reset();
  release_request();
  if (!reply.source || !reply.source->waits()) place_.leave();
  if (reply.dropped) {
    last_ = dropped_ = true;
    return;
  }
  append_reply(out_, reply, stays);
  if (body_goes_apart(reply)) out_body_ = std::move(reply.body);
  source_ = std::move(reply.source);
  last_ = !stays;
}

// --- responses made on the slow lane

template <class Stream>
void Session<Stream>::answer_later(const Admitted& admitted, Waiting kind) {
  const std::string account = claimed_account(request_).value_or(std::string(default_account));
  if (!lines_up(kind)) {
    place_ = slow_lane_.take(kind, account);
    if (!place_) return send(too_many_wait(kind));
    // The body may be decompressed and then held while the request waits. In a queue, at most one body per
    // thread is decompressed at a time.
    if (!request_.header(Header::content_encoding).empty()) {
      hold_request(std::min(body_bytes_max, deflate_ratio_max * request_.body.size()));
      if (last_) return place_.leave();  // rejected
    }
  }
  waiting_ = true;
  // A request in a queue is stopped only when the lane ends. A client that closes its side of the connection
  // still gets the response, as it would from an io thread.
  const std::stop_source stop_source;
  if (!lines_up(kind)) stop_ = stop_source;
  // The lane never holds the last reference to a session, because a session must be destroyed on its io
  // thread.
  auto job = [self = this->shared_from_this(), admitted, kind, stop = stop_source.get_token()]() mutable {
    const bool is_late = lines_up(kind) && stop.stop_requested();  // before its turn came
    Reply reply = is_late ? no_thread() : self->router_.answer(admitted, stop);
    const auto executor = self->stream_.get_executor();
    asio::post(executor, [self = std::move(self), reply = std::move(reply)]() mutable {
      self->waiting_ = false;
      if (self->writing_) {
        self->late_ = std::move(reply);
        self->hold();
      } else {
        self->send(std::move(reply));
        self->proceed();
      }
    });
  };
  const bool taken = lines_up(kind) ? slow_lane_.line_up(kind, account, stop_source, std::move(job))
                                    : slow_lane_.run(stop_source, std::move(job));
  if (taken) return lines_up(kind) ? void() : watch_client();
  waiting_ = false;
  // A request that would have queued up takes a long time but ends on its own, so the io thread answers it.
  send(lines_up(kind) ? router_.answer(admitted, {}) : no_thread());
}

template <class Stream>
void Session<Stream>::watch_client() {
  if (!ahead_.empty()) return;
  if (end_came_) {
    stop_.request_stop();
    return;
  }
  ahead_.resize(input_bytes);
  stream_.async_read_some(asio::buffer(ahead_),
                          [self = this->shared_from_this()](ErrorCode failure, std::size_t bytes) {
                            self->came_ahead(failure, bytes);
                          });
}

template <class Stream>
void Session<Stream>::came_ahead(ErrorCode failure, std::size_t bytes) {
  const std::vector<char> came = std::exchange(ahead_, {});
  if (failure) {  // the client disconnected, or the read was canceled
    end_came_ = failure != asio::error::operation_aborted;
    if (waiting_) stop_.request_stop();
    return;
  }
  quiet_ = {};
  make_room();
  if (in_.size() < in_end_ + bytes) in_.resize(in_end_ + bytes);
  std::copy_n(came.begin(), bytes, in_.begin() + static_cast<std::ptrdiff_t>(in_end_));
  in_end_ += bytes;
  if (!waiting_) {
    if (std::exchange(resumes_, false)) return last_ ? read_and_discard() : proceed();
  } else if (in_end_ < body_input_bytes) {
    watch_client();
  } else {
    stop_.request_stop();
  }
}

template <class Stream>
void Session<Stream>::next_piece() {
  waiting_ = true;
  stop_ = std::stop_source();
  const bool taken = slow_lane_.run(
      stop_, [self = this->shared_from_this(), source = source_, stop = stop_.get_token()]() mutable {
        std::string piece;
        auto came = Piece::last;
        const auto next = [&] {
          if (source->next(piece, stop)) came = Piece::more;
        };
        engine::attempt(next, [&](std::string_view) { came = Piece::failed; });
        if (stop.stop_requested()) came = Piece::failed;
        source.reset();
        const auto executor = self->stream_.get_executor();
        asio::post(executor, [self = std::move(self), piece = std::move(piece), came] {
          self->piece_came(piece, came);
        });
      });
  if (taken) return watch_client();
  piece_came({}, Piece::failed);
}

template <class Stream>
void Session<Stream>::piece_came(const std::string& piece, Piece came) {
  waiting_ = false;
  if (!source_->waits()) {
    place_.leave();
    if (came == Piece::failed) return close();
  }
  if (!piece.empty()) append_chunk(out_, piece);
  if (came != Piece::more) {
    append_last_chunk(out_);
    source_.reset();
    place_.leave();
  }
  proceed();
}

template <class Stream>
void Session<Stream>::send_last(Reply reply) {
  append_reply(out_, reply, false);
  last_ = true;
  unread_input_ = true;
}

template <class Stream>
void Session<Stream>::write() {
  writing_ = true;
  answering_ = {};
  std::size_t sent = 0;
  if constexpr (!is_tls) {
    const auto at_once = send_at_once();
    if (!at_once) return;  // the client disconnected
    sent = *at_once;
    if (sent == out_.size() + out_body_.size()) {
      drop_sent();
      // Other ready handlers run first. By then the next request has often arrived, and is read without
      // waiting.
      return asio::post(stream_.get_executor(), [self = this->shared_from_this()] { self->written(); });
    }
  }
  hold();
  const std::size_t of_out = std::min(sent, out_.size());
  const std::array<asio::const_buffer, 2> rest = {asio::buffer(out_) + of_out,
                                                  asio::buffer(out_body_) + (sent - of_out)};
  // `more` can use `this`, because `more` lives only as long as the handler below, which keeps the session
  // alive.
  const auto more = [this](ErrorCode failure, std::size_t) {
    quiet_ = {};
    unread_answers_.moved(unread_);
    return failure ? 0 : written_at_once_bytes_max;
  };
  asio::async_write(stream_, rest, more, [self = this->shared_from_this()](ErrorCode failure, std::size_t) {
    self->drop_sent();
    if (!failure) return self->written();
    self->unread_answers_.release(self->unread_);
  });
}

template <class Stream>
std::optional<std::size_t> Session<Stream>::send_at_once() {
  if (!socket().non_blocking() || out_.size() + out_body_.size() > written_at_once_bytes_max) return 0;
  const std::array<asio::const_buffer, 2> buffers = {asio::buffer(out_), asio::buffer(out_body_)};
  ErrorCode failure;
  const std::size_t sent = socket().send(buffers, 0, failure);
  if (failure && failure != asio::error::would_block) return std::nullopt;
  quiet_ = {};
  return sent;
}

template <class Stream>
void Session<Stream>::drop_sent() {
  out_.clear();
  if (out_.capacity() > kept_output_bytes_max) std::string().swap(out_);
  std::string().swap(out_body_);
}

template <class Stream>
void Session<Stream>::written() {
  unread_answers_.release(unread_);
  writing_ = false;
  if (late_) send(*std::exchange(late_, std::nullopt));
  if (!last_ || !out_.empty() || source_) return proceed();
  finish();
}

// With TLS, the client is told that the data is complete (close_notify) before the connection is half closed:
// the end of a TCP connection could be forged by anyone in between.
template <class Stream>
void Session<Stream>::finish() {
  if constexpr (is_tls) {
    if (dropped_) return close();  // without close_notify
    stream_.async_shutdown([self = this->shared_from_this()](ErrorCode) { self->end_sending(); });
  } else {
    end_sending();
  }
}

template <class Stream>
void Session<Stream>::end_sending() {
  ErrorCode ignored;
  socket().shutdown(Socket::shutdown_send, ignored);
  if (unread_input_) read_and_discard();
}

template <class Stream>
void Session<Stream>::read_and_discard() {
  if (!ahead_.empty()) {
    resumes_ = true;
    return;
  }
  if (end_came_) return;
  if (in_.size() != input_bytes) std::vector<char>(input_bytes).swap(in_);
  socket().async_read_some(asio::buffer(in_),
                           [self = this->shared_from_this()](ErrorCode failure, std::size_t bytes) {
                             self->discarded_bytes_ += bytes;
                             if (!failure && self->discarded_bytes_ < discarded_bytes_max)
                               self->read_and_discard();
                           });
}

template class Session<Socket>;
template class Session<TlsStream>;

}  // namespace mayfly::http
