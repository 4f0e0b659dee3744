#include "http/functions/local_port.h"

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <optional>
#include <unordered_set>

#include "compat/json/json.h"
#include "http/access/access.h"

namespace mayfly::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

constexpr std::uint32_t header_bytes_max = 64 * 1024;
constexpr std::chrono::milliseconds accept_pause{50};

class LocalConnection;

}  // namespace

std::string error_body(std::string_view type, std::string_view message) {
  std::string body;
  json::Writer out(body);
  out.begin_object();
  out.key("errorType");
  out.string(type);
  out.key("errorMessage");
  out.string(message);
  out.end_object();
  return body;
}

LocalReply error_reply(int status, std::string_view type, std::string_view message) {
  return {.status = status, .body = error_body(type, message)};
}

class LocalPort::State : public std::enable_shared_from_this<LocalPort::State> {
 public:
  State(asio::io_context& io, Handler handler, std::size_t body_bytes_max, std::function<void()> disconnected)
      : handler_(std::move(handler)),
        disconnected_(std::move(disconnected)),
        body_bytes_max_(body_bytes_max),
        acceptor_(io),
        pause_(io) {}

  void listen() {
    acceptor_.open(tcp::v4());
    acceptor_.bind({asio::ip::address_v4::loopback(), 0});
    acceptor_.listen();
    accept();
  }
  void close();

  void handle(const std::shared_ptr<Exchange>& exchange) {
    if (handler_) handler_(exchange);
  }
  void ended(LocalConnection* connection) {
    connections_.erase(connection);
    if (!is_accepting_) accept();
    if (disconnected_) disconnected_();
  }
  [[nodiscard]] tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }

 private:
  void accept();

  Handler handler_;
  std::function<void()> disconnected_;
  const std::size_t body_bytes_max_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  bool is_accepting_ = false;
  std::unordered_set<LocalConnection*> connections_;
};

namespace {

class LocalConnection final : public Exchange, public std::enable_shared_from_this<LocalConnection> {
 public:
  LocalConnection(tcp::socket socket, std::weak_ptr<LocalPort::State> port, std::size_t body_bytes_max)
      : socket_(std::move(socket)), port_(std::move(port)), body_bytes_max_(body_bytes_max) {}
  ~LocalConnection() override { close(); }  // nothing will answer
  LocalConnection(const LocalConnection&) = delete;
  LocalConnection& operator=(const LocalConnection&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(header_bytes_max);
    parser_->body_limit(body_bytes_max_);
    beast::http::async_read(
        socket_, buffer_, *parser_,
        [self = shared_from_this()](ErrorCode failure, std::size_t) { self->came(failure); });
  }

  void close() {
    if (is_closed_) return;
    is_closed_ = true;
    ErrorCode ignored;
    socket_.close(ignored);
    if (const auto gone = std::exchange(gone_, nullptr)) gone();
    if (const auto port = port_.lock()) port->ended(this);
  }

  [[nodiscard]] std::string_view header(std::string_view name) const override {
    const auto found = headers_.find(name);
    return found == headers_.end() ? std::string_view() : std::string_view(found->value());
  }

  void answer(LocalReply reply) override {
    gone_ = nullptr;
    if (is_closed_ || !is_waiting_) return;
    is_waiting_ = false;
    response_ = {};
    response_.version(11);
    response_.result(static_cast<unsigned>(reply.status));
    for (const auto& [name, value] : reply.headers) response_.set(name, value);
    if (!reply.content_type.empty()) response_.set(beast::http::field::content_type, reply.content_type);
    response_.keep_alive(keeps_);
    response_.body() = std::move(reply.body);
    response_.prepare_payload();
    beast::http::async_write(socket_, response_, [self = shared_from_this()](ErrorCode failure, std::size_t) {
      if (failure || !self->keeps_) return self->close();
      self->read();
    });
  }

  void when_gone(std::function<void()> gone) override {
    if (is_closed_) return gone();
    gone_ = std::move(gone);
    watch();
  }

 private:
  void came(ErrorCode failure) {
    is_too_large = failure == beast::http::error::body_limit;
    if (failure && !is_too_large) return close();
    auto message = parser_->release();
    keeps_ = message.keep_alive() && !is_too_large;
    is_waiting_ = true;
    ++requests_;
    method = message.method_string();
    target = message.target();
    body = is_too_large ? std::string() : std::move(message.body());
    headers_ = std::move(message.base());
    if (headers_.count(beast::http::field::host) != 1 || !answers_to(header("Host"), {}) ||
        !header("Origin").empty() || !header("Sec-Fetch-Site").empty())
      return answer(
          error_reply(403, "Forbidden", "Only programs on this machine may use this port, not web pages."));
    if (const auto port = port_.lock()) port->handle(shared_from_this());
  }

  // Notices the end of the connection while the answer is awaited. A client that sends more meanwhile is not
  // watched any longer.
  void watch() {
    socket_.async_wait(
        tcp::socket::wait_read, [self = shared_from_this(), request = requests_](ErrorCode failure) {
          const bool waits = self->is_waiting_ && self->requests_ == request && !self->is_closed_;
          if (!waits || failure == asio::error::operation_aborted) return;
          ErrorCode problem;
          if (self->socket_.available(problem) == 0) self->close();
        });
  }

  tcp::socket socket_;
  const std::weak_ptr<LocalPort::State> port_;
  const std::size_t body_bytes_max_;
  beast::flat_buffer buffer_;
  std::optional<beast::http::request_parser<beast::http::string_body>> parser_;
  beast::http::fields headers_;
  beast::http::response<beast::http::string_body> response_;
  std::function<void()> gone_;
  bool keeps_ = true;
  bool is_waiting_ = false;  // for the answer
  std::uint64_t requests_ = 0;
  bool is_closed_ = false;
};

}  // namespace

void LocalPort::State::accept() {
  is_accepting_ = connections_.size() < connections_max;
  if (!is_accepting_ || !acceptor_.is_open()) return;
  acceptor_.async_accept([self = shared_from_this()](ErrorCode failure, tcp::socket socket) {
    if (!self->acceptor_.is_open()) return;
    if (failure) {  // the process has no file descriptor left
      self->pause_.expires_after(accept_pause);
      return self->pause_.async_wait([self](ErrorCode stopped) {
        if (!stopped) self->accept();
      });
    }
    ErrorCode ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    const auto connection = std::make_shared<LocalConnection>(std::move(socket), self, self->body_bytes_max_);
    self->connections_.insert(connection.get());
    connection->read();
    self->accept();
  });
}

void LocalPort::State::close() {
  handler_ = nullptr;
  disconnected_ = nullptr;
  ErrorCode ignored;
  acceptor_.close(ignored);
  pause_.cancel();
  while (!connections_.empty()) (*connections_.begin())->close();
}

LocalPort::LocalPort(std::shared_ptr<State> state) : state_(std::move(state)) {}
LocalPort::~LocalPort() { state_->close(); }

std::string LocalPort::address() const { return "127.0.0.1:" + std::to_string(state_->endpoint().port()); }

Expected<std::unique_ptr<LocalPort>, std::string> LocalPort::open(asio::io_context& io, Handler handler,
                                                                  std::size_t body_bytes_max,
                                                                  std::function<void()> disconnected) {
  const auto state = std::make_shared<State>(io, std::move(handler), body_bytes_max, std::move(disconnected));
  try {
    state->listen();
  } catch (const boost::system::system_error& failure) {
    return Unexpected{"cannot listen on a port of 127.0.0.1: " + failure.code().message()};
  }
  return std::unique_ptr<LocalPort>(new LocalPort(state));
}

}  // namespace mayfly::http
