#include "http/outbound/client.h"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "http/base/tls.h"
#include "http/outbound/name_lookup.h"
#include "http/requests/request.h"
#include "os/reason.h"

namespace mayfly::http {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using compat::outbound::Url;
using ErrorCode = boost::system::error_code;

using Piece = std::function<bool(std::string_view)>;

std::vector<tcp::endpoint> endpoints_of(const Url& url) {
  std::vector<tcp::endpoint> endpoints;
  for (const auto& address : look_up(url.host)) endpoints.emplace_back(address, url.port);
  return endpoints;
}

// A byte stream to a server, with or without TLS, with an optional deadline and stop token. Each operation
// blocks until it ends. When the deadline passes or a stop is requested, the operation in progress ends, and
// so does the connection.
class Stream {
 public:
  Stream(const Url& server, std::shared_ptr<TlsContext> tls) : server_(server), context_(std::move(tls)) {}

  void set_deadline(std::optional<engine::RealTime> deadline) { deadline_ = deadline; }
  // Sets a time limit that starts when the next byte arrives. The limit has no effect if a deadline is set by
  // then.
  void limit_answer(std::optional<std::chrono::milliseconds> time_max) { answer_time_max_ = time_max; }
  void set_stop(std::stop_token stop) { stop_ = std::move(stop); }
  // Returns why an operation failed if a deadline or a stop ended it, or nullopt if the network or TLS
  // failed.
  [[nodiscard]] std::optional<ExchangeFailure> ended_by_us(ErrorCode failure) const {
    using Kind = ExchangeFailure::Kind;
    if (failure == asio::error::timed_out)
      return ExchangeFailure{Kind::timed_out,
                             server_.authority + (answer_began_ ? " did not finish its response in time"
                                                                : " did not answer in time")};
    if (stop_.stop_requested()) return ExchangeFailure{Kind::stopped, "interrupted"};
    return std::nullopt;
  }
  // Requires: the stream has not been opened.
  Expected<void, ExchangeFailure> open();
  [[nodiscard]] bool opened() const { return opened_; }
  // True if nothing has arrived since the last response, not even the end of the connection.
  [[nodiscard]] bool is_quiet() {
    char byte = 0;
    ErrorCode failure;
    socket_.non_blocking(true, failure);
    if (!failure) socket_.receive(asio::buffer(&byte, 1), tcp::socket::message_peek, failure);
    return failure == asio::error::would_block;
  }

  void write(const std::array<asio::const_buffer, 2>& buffers, ErrorCode& failure) {
    failure = wait_for([&](auto done) {
      const auto written = [done](ErrorCode outcome, std::size_t) { done(outcome); };
      tls_ ? asio::async_write(*tls_, buffers, written) : asio::async_write(socket_, buffers, written);
    });
  }
  // The interface that Beast's parsers read from.
  template <class Buffers>
  std::size_t read_some(const Buffers& buffers, ErrorCode& failure) {
    std::size_t count = 0;
    failure = wait_for([&](auto done) {
      const auto read = [&count, done](ErrorCode outcome, std::size_t bytes) {
        count = bytes;
        done(outcome);
      };
      tls_ ? tls_->async_read_some(buffers, read) : socket_.async_read_some(buffers, read);
    });
    answer_began_ = answer_began_ || count > 0;
    if (count > 0 && !deadline_ && answer_time_max_) deadline_ = engine::host_time() + *answer_time_max_;
    return count;
  }
  template <class Buffers>
  std::size_t read_some(const Buffers& buffers) {
    ErrorCode ignored;
    return read_some(buffers, ignored);
  }

 private:
  template <class Start>
  ErrorCode wait_for(Start start) {
    std::optional<ErrorCode> outcome;
    start([&outcome](ErrorCode failure) { outcome = failure; });
    io_.restart();
    const std::stop_callback ends(stop_, [this] {
      asio::post(io_, [this] {
        ErrorCode ignored;
        socket_.close(ignored);
      });
    });
    if (!deadline_) {
      io_.run();
    } else {
      io_.run_for(*deadline_ - engine::host_time());
      if (!outcome) {
        ErrorCode ignored;
        socket_.close(ignored);
        io_.restart();
        io_.run();
        outcome = asio::error::timed_out;
      }
    }
    return *outcome;
  }

  const Url& server_;
  const std::shared_ptr<TlsContext> context_;  // nullptr: no TLS
  std::optional<engine::RealTime> deadline_;
  std::optional<std::chrono::milliseconds> answer_time_max_;
  std::stop_token stop_;
  bool answer_began_ = false;
  asio::io_context io_{1};
  tcp::socket socket_{io_};
  std::optional<asio::ssl::stream<tcp::socket&>> tls_;
  bool opened_ = false;
};

Expected<void, ExchangeFailure> Stream::open() {
  const auto fail = [](ExchangeFailure::Kind kind, std::string sentence) {
    return Unexpected{ExchangeFailure{kind, std::move(sentence)}};
  };
  const std::vector<tcp::endpoint> endpoints = endpoints_of(server_);
  if (endpoints.empty())
    return fail(ExchangeFailure::Kind::unreachable, "cannot resolve host '" + server_.host + "'");
  ErrorCode failure = wait_for([&](auto done) {
    asio::async_connect(socket_, endpoints,
                        [done](ErrorCode outcome, const tcp::endpoint&) { done(outcome); });
  });
  if (failure)
    if (auto ended = ended_by_us(failure)) return Unexpected{*std::move(ended)};
  if (failure)
    return fail(ExchangeFailure::Kind::unreachable,
                "cannot connect to " + server_.authority + ": " + os::reason(failure));
  socket_.set_option(tcp::no_delay(true), failure);
  opened_ = true;
  if (!context_) return {};

  tls_.emplace(socket_, *context_);
  // The certificate must match the host. If the host is a name, it is also sent to the server (SNI).
  X509_VERIFY_PARAM* const expected = SSL_get0_param(tls_->native_handle());
  if (X509_VERIFY_PARAM_set1_ip_asc(expected, server_.host.c_str()) != 1) {
    X509_VERIFY_PARAM_set1_host(expected, server_.host.data(), server_.host.size());
    SSL_set_tlsext_host_name(tls_->native_handle(), server_.host.c_str());
  }
  failure = wait_for([&](auto done) {
    tls_->async_handshake(asio::ssl::stream_base::client, [done](ErrorCode outcome) { done(outcome); });
  });
  if (!failure) return {};
  if (auto ended = ended_by_us(failure)) return Unexpected{*std::move(ended)};
  const long verified = SSL_get_verify_result(tls_->native_handle());
  return fail(ExchangeFailure::Kind::unreachable,
              "the TLS handshake with " + server_.authority + " failed: " +
                  (verified == X509_V_OK ? os::reason(failure) : X509_verify_cert_error_string(verified)));
}

struct Exchanged {
  ClientAnswer answer;
  bool stays_open = false;
};

// Returns why a response could not be read to its end.
ExchangeFailure failure_of_answer(const Url& server, ErrorCode failure, std::size_t bytes_max) {
  using beast::http::error;
  using Kind = ExchangeFailure::Kind;
  if (failure == error::body_limit)
    return {Kind::refused,
            server.authority + " sent a response of more than " + std::to_string(bytes_max) + " bytes"};
  if (failure == error::header_limit || failure == error::buffer_overflow)
    return {Kind::refused, server.authority + " sent response headers that are too large"};
  if (failure.category() == make_error_code(error::end_of_stream).category() &&
      failure != error::end_of_stream && failure != error::partial_message)
    return {Kind::refused, server.authority + " did not answer with HTTP: " + os::reason(failure)};
  return {Kind::cut_short, server.authority + " closed the connection before its response was complete"};
}

// Makes one exchange on an open stream.
Expected<Exchanged, ExchangeFailure> exchange(Stream& stream, const Url& server, const ClientRequest& request,
                                              const Piece& piece, std::size_t bytes_max) {
  const std::string head = request_head(server, request, request.body.size());
  ErrorCode failure;
  stream.write({asio::buffer(head), asio::buffer(request.body)}, failure);

  beast::flat_buffer buffer(answer_buffer_bytes_max);
  std::optional<beast::http::response_parser<beast::http::string_body>> expected;
  const auto read_header = [&] {
    expected.emplace();
    expected->body_limit(bytes_max);
    beast::http::read_header(stream, buffer, *expected, failure);
    return !failure && is_interim(static_cast<int>(expected->get().result_int()));
  };
  for (int interim = 0; !failure && read_header();) {
    if (++interim > interim_answers_max)
      return Unexpected{ExchangeFailure{ExchangeFailure::Kind::refused,
                                        server.authority + " sent " + std::string(too_many_interim_answers)}};
  }
  if (!expected) expected.emplace();  // the request was not sent
  auto& parser = *expected;
  const bool in_pieces = !failure && piece && parser.get().result_int() == 200;
  // A body with a Content-Length keeps its limit, because the whole body is allocated at once.
  if (in_pieces && !parser.content_length()) {
    parser.body_limit(boost::none);
    stream.set_deadline(std::nullopt);
    stream.limit_answer(std::nullopt);
  }
  while (!failure) {
    std::string& body = parser.get().body();
    if (in_pieces && !body.empty()) {
      if (!piece(body)) break;
      body.clear();
    }
    if (parser.is_done()) break;
    beast::http::read_some(stream, buffer, parser, failure);
  }
  if (failure) {
    if (auto ended = stream.ended_by_us(failure)) return Unexpected{*std::move(ended)};
    return Unexpected{failure_of_answer(server, failure, bytes_max)};
  }
  Exchanged exchanged;
  exchanged.stays_open = parser.is_done() && parser.keep_alive() && buffer.size() == 0;
  auto answer = parser.release();
  exchanged.answer.status = static_cast<int>(answer.result_int());
  for (const auto& field : answer)
    exchanged.answer.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  exchanged.answer.body = std::move(answer.body());
  return exchanged;
}

}  // namespace

std::string_view ClientAnswer::header(std::string_view name) const {
  for (const auto& [sent, value] : headers)
    if (equals_ignoring_case(sent, name)) return value;
  return {};
}

std::string status_sentence(const ClientAnswer& answer) {
  std::string sentence = "the server answered with HTTP status " + std::to_string(answer.status);
  if (answer.status >= 300 && answer.status < 400) sentence += " (redirects are not followed)";
  return sentence;
}

std::string request_head(const Url& server, const ClientRequest& request, std::size_t body_bytes) {
  std::string head = request.method + " " + request.path + " HTTP/1.1\r\nHost: " + server.authority +
                     "\r\nUser-Agent: mayfly/" MAYFLY_VERSION "\r\nAccept: */*\r\n";
  if (!request.keeps_connection) head += "Connection: close\r\n";
  if (!request.content_type.empty()) head += "Content-Type: " + request.content_type + "\r\n";
  head += "Content-Length: " + std::to_string(body_bytes) + "\r\n";
  for (const auto& [name, value] : request.headers) head += name + ": " + value + "\r\n";
  return head + "\r\n";
}

Expected<ClientAnswer, std::string> fetch(const Url& server, const ClientRequest& request, const Piece& piece,
                                          const std::string& ca_file, const std::stop_token& stop,
                                          const AnswerLimits& limits) {
  std::shared_ptr<TlsContext> tls;
  if (server.tls) {
    TRY(tls, tls_of_client(ca_file));
  }
  Stream stream(server, std::move(tls));
  stream.set_stop(stop);
  if (auto opened = stream.open(); !opened) return Unexpected{std::move(opened.error().sentence)};
  stream.limit_answer(limits.time_max);
  auto exchanged = exchange(stream, server, request, piece, limits.bytes_max);
  if (!exchanged) return Unexpected{std::move(exchanged.error().sentence)};
  return std::move(exchanged->answer);
}

struct Connections::State {
  const Url server;
  const std::string ca_file;
  engine::Mutex mutex{};
  std::shared_ptr<TlsContext> tls GUARDED_BY(mutex);  // made once, because the system has many CAs
  std::vector<std::unique_ptr<Stream>> idle GUARDED_BY(mutex);

  Expected<std::shared_ptr<TlsContext>, std::string> context() {
    const engine::Lock lock(mutex);
    if (server.tls && !tls) {
      TRY(tls, tls_of_client(ca_file));
    }
    return tls;
  }
  std::unique_ptr<Stream> take() {
    const engine::Lock lock(mutex);
    while (!idle.empty()) {
      auto stream = std::move(idle.back());
      idle.pop_back();
      if (stream->is_quiet()) return stream;
    }
    return nullptr;
  }
  void give_back(std::unique_ptr<Stream> stream) {
    const engine::Lock lock(mutex);
    if (idle.size() < idle_max) idle.push_back(std::move(stream));
  }
};

Connections::Connections(Url server, std::string ca_file)
    : state_(new State{.server = std::move(server), .ca_file = std::move(ca_file)}) {}

Connections::~Connections() = default;

const Url& Connections::server() const { return state_->server; }

Expected<ClientAnswer, ExchangeFailure> Connections::ask(const ClientRequest& request,
                                                         std::chrono::milliseconds time_max,
                                                         const std::stop_token& stop) {
  const auto deadline = engine::host_time() + time_max;
  std::unique_ptr<Stream> stream = state_->take();
  if (!stream) {
    auto tls = state_->context();
    if (!tls) return Unexpected{ExchangeFailure{ExchangeFailure::Kind::unusable, std::move(tls.error())}};
    stream = std::make_unique<Stream>(state_->server, *std::move(tls));
  }
  stream->set_deadline(deadline);
  stream->set_stop(stop);
  if (!stream->opened()) CHECK_OK(stream->open());
  TRY(auto exchanged, exchange(*stream, state_->server, request, {}, AnswerLimits{}.bytes_max));
  stream->set_stop({});
  if (exchanged.stays_open && request.keeps_connection) state_->give_back(std::move(stream));
  return std::move(exchanged.answer);
}

}  // namespace mayfly::http
