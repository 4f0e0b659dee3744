#include "http/session.h"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <cerrno>
#include <sys/socket.h>
#include <utility>

#include "engine/attempt.h"
#include "http/router.h"

namespace mayfly::http {

namespace {

namespace asio = boost::asio;
using boost::beast::http::error;
using ErrorCode = boost::system::error_code;

// A quiet connection holds no more than the first; a long body is read in pieces of the second.
constexpr std::size_t input_bytes = 4 * 1024;
constexpr std::size_t body_input_bytes = 64 * 1024;
// Answers that wait while more pipelined requests are parsed.
constexpr std::size_t output_bytes_max = 64 * 1024;
// A client shows that it reads by taking so much.
constexpr std::size_t written_at_once_bytes_max = 64 * 1024;
// A client that sends on after its last answer is listened to, so that it finds the answer and not a reset.
constexpr std::size_t discarded_bytes_max = 256 * 1024 * 1024;

constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

Session::Session(Socket socket, Service& service, SlowLane& slow_lane, UnreadAnswers& unread_answers,
                 Closed closed)
    : socket_(std::move(socket)),
      service_(service),
      slow_lane_(slow_lane),
      unread_answers_(unread_answers),
      closed_(std::move(closed)),
      in_(input_bytes) {}

Session::~Session() {
  unread_answers_.release(unread_);
  closed_(this);
}

void Session::hold() {
  unread_answers_.hold(unread_, out_.size() + out_body_.capacity() + (late_ ? late_->body.capacity() : 0));
}

void Session::close() {
  unread_answers_.release(unread_);
  stop_.request_stop();
  ErrorCode ignored;
  // What the client did not take, the kernel shall not keep for it either.
  if (writing_) socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
}

void Session::tick(std::chrono::milliseconds since_last_tick, std::chrono::milliseconds idle_max,
                   std::chrono::milliseconds stalled_max) {
  if (waiting_) return;
  quiet_ += since_last_tick;
  const bool waiting_for_request = !parser_ && out_.empty() && !last_;
  if (quiet_ >= (waiting_for_request ? idle_max : stalled_max)) close();
}

void Session::make_room() {
  if (in_begin_ == 0) return;
  std::copy(in_.begin() + static_cast<std::ptrdiff_t>(in_begin_),
            in_.begin() + static_cast<std::ptrdiff_t>(in_end_), in_.begin());
  in_end_ -= in_begin_;
  in_begin_ = 0;
}

void Session::read() {
  make_room();
  const bool in_body = parser_ && parser_->is_header_done();
  if (in_body && in_.size() < body_input_bytes) {
    in_.resize(body_input_bytes);
  } else if (!in_body && in_end_ == 0 && in_.size() > input_bytes) {
    std::vector<char>(input_bytes).swap(in_);
  } else if (in_end_ == in_.size()) {
    in_.resize(in_.size() * 2);  // bounded: a header's or a chunk header's limit comes first
  }
  socket_.async_read_some(asio::buffer(in_.data() + in_end_, in_.size() - in_end_),
                          [self = shared_from_this()](ErrorCode failure, std::size_t bytes) {
                            if (failure) return;  // the client left
                            self->quiet_ = {};
                            self->in_end_ += bytes;
                            self->proceed();
                          });
}

void Session::proceed() {
  while (!last_ && !waiting_ && !source_ && out_.size() < output_bytes_max && out_body_.empty() &&
         in_begin_ < in_end_) {
    if (!parse_request()) break;
    answer();
  }
  if (!out_.empty()) {
    write();
  } else if (source_ && !waiting_) {
    next_piece();
  } else if (!last_ && !waiting_) {
    read();
  }
}

bool Session::parse_request() {
  if (!parser_) parser_.emplace(request_);
  const bool had_header = parser_->is_header_done();
  ErrorCode failure;
  in_begin_ += parser_->parse(asio::buffer(in_.data() + in_begin_, in_end_ - in_begin_), failure);
  const std::size_t unparsed = in_end_ - in_begin_;

  if (failure == error::body_limit) {
    send_last(too_large());
  } else if (failure == error::header_limit) {
    send_last(bad_request("The request line and headers are longer than 16 KB."));
  } else if (failure == error::need_more && parser_->is_header_done() && unparsed > header_bytes_max) {
    send_last(bad_request("A chunk's header is longer than 16 KB."));
  } else if (failure && failure != error::need_more) {
    send_last(bad_request("This is no HTTP request: " + failure.message() + "."));
  } else if (parser_->is_done()) {
    return true;
  } else if (!had_header && parser_->is_header_done() && unparsed == 0 && request_.body.empty() &&
             equals_ignoring_case(request_.header(Header::expect), "100-continue")) {
    out_ += go_on;
  }
  return false;
}

void Session::answer() {
  auto admitted = service_.admit(request_, known_host_);
  if (!admitted) return send(std::move(admitted).error());
  if (const auto kind = service_.waits_as(request_)) {
    answer_later(*admitted, *kind);
  } else {
    send(service_.answer(*admitted, {}));
  }
}

void Session::send(Reply reply) {
  const bool stays = parser_->keep_alive() && !reply.close;
  parser_.reset();
  if (!reply.source) place_.leave();
  append_reply(out_, reply, stays);
  if (body_goes_apart(reply)) out_body_ = std::move(reply.body);
  source_ = std::move(reply.source);
  last_ = !stays;
}

// --- answers that are made elsewhere

void Session::answer_later(const Admitted& admitted, Waiting kind) {
  place_ = slow_lane_.take(kind);
  if (!place_) return send(too_many_wait(kind));
  waiting_ = true;
  stop_ = std::stop_source();
  // The lane never holds the last reference: a session ends on its io thread.
  const bool taken =
      slow_lane_.run(stop_, [self = shared_from_this(), admitted, stop = stop_.get_token()]() mutable {
        Reply reply = self->service_.answer(admitted, stop);
        const auto executor = self->socket_.get_executor();
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
      });
  if (taken) return watch_client();
  waiting_ = false;
  send(too_many_wait(kind));
}

void Session::watch_client() {
  if (watching_) return;
  watching_ = true;
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](ErrorCode failure) {
    self->watching_ = false;
    if (!failure && self->waiting_) self->read_ahead();
  });
}

void Session::read_ahead() {
  make_room();
  if (in_.size() < body_input_bytes) in_.resize(body_input_bytes);
  if (in_end_ == in_.size()) {
    stop_.request_stop();
    return;
  }
  const ssize_t got =
      ::recv(socket_.native_handle(), in_.data() + in_end_, in_.size() - in_end_, MSG_DONTWAIT);
  const bool nothing_yet = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
  if (got > 0) in_end_ += static_cast<std::size_t>(got);
  if (got > 0 || nothing_yet) return watch_client();
  stop_.request_stop();
}

void Session::next_piece() {
  waiting_ = true;
  stop_ = std::stop_source();
  const bool taken = slow_lane_.run(stop_, [self = shared_from_this(), source = source_,
                                            stop = stop_.get_token()]() mutable {
    std::string piece;
    const auto next = [&] { return source->next(piece, stop); };
    const bool more = engine::attempt(next, [](std::string_view) { return false; }) && !stop.stop_requested();
    source.reset();
    const auto executor = self->socket_.get_executor();
    asio::post(executor,
               [self = std::move(self), piece = std::move(piece), more] { self->piece_came(piece, more); });
  });
  if (taken) return watch_client();
  piece_came({}, false);
}

void Session::piece_came(const std::string& piece, bool more) {
  waiting_ = false;
  if (!piece.empty()) append_chunk(out_, piece);
  if (!more) {
    append_last_chunk(out_);
    source_.reset();
    place_.leave();
  }
  proceed();
}

void Session::send_last(Reply reply) {
  append_reply(out_, reply, false);
  last_ = true;
  unread_input_ = true;
}

void Session::write() {
  writing_ = true;
  hold();
  const std::array<asio::const_buffer, 2> buffers = {asio::buffer(out_), asio::buffer(out_body_)};
  // Lives as long as the handler beside it.
  const auto more = [this](ErrorCode failure, std::size_t) {
    quiet_ = {};
    unread_answers_.moved(unread_);
    return failure ? 0 : written_at_once_bytes_max;
  };
  asio::async_write(socket_, buffers, more, [self = shared_from_this()](ErrorCode failure, std::size_t) {
    self->unread_answers_.release(self->unread_);
    if (failure) return;
    self->writing_ = false;
    self->out_.clear();
    std::string().swap(self->out_body_);
    if (self->late_) self->send(*std::exchange(self->late_, std::nullopt));
    if (!self->last_ || !self->out_.empty() || self->source_) return self->proceed();
    ErrorCode ignored;
    self->socket_.shutdown(Socket::shutdown_send, ignored);
    if (self->unread_input_) self->read_and_discard();
  });
}

void Session::read_and_discard() {
  in_.resize(body_input_bytes);
  socket_.async_read_some(asio::buffer(in_),
                          [self = shared_from_this()](ErrorCode failure, std::size_t bytes) {
                            self->discarded_bytes_ += bytes;
                            if (!failure && self->discarded_bytes_ < discarded_bytes_max)
                              self->read_and_discard();
                          });
}

}  // namespace mayfly::http
