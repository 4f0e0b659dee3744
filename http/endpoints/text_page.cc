#include "http/endpoints/text_page.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "engine/base/whole_number.h"
#include "http/access/access.h"
#include "http/requests/request.h"
#include "os/reason.h"
#include "os/sockets.h"

namespace mayfly::http {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

constexpr std::chrono::seconds page_exchange_max{2};
constexpr std::chrono::milliseconds page_accept_pause{100};
constexpr std::size_t page_request_bytes_max = 8 * 1024;

std::string_view header_in(std::string_view head, std::string_view name) {
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find("\r\n"));
    head.remove_prefix(std::min(line.size() + 2, head.size()));
    const auto colon = line.find(':');
    if (colon != std::string_view::npos && equals_ignoring_case(line.substr(0, colon), name))
      return trim(line.substr(colon + 1));
  }
  return {};
}

}  // namespace

// The page's thread uses all members, so other threads use only `port_` once it has started.
class TextPage::State {
 public:
  State(std::string path, std::function<std::string()> text)
      : path_(std::move(path)), text_(std::move(text)) {}
  ~State() {
    io_.stop();
    if (thread_.joinable()) thread_.join();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Expected<void, std::string> listen(const std::string& address);
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  void accept();
  void answer();
  void end();
  [[nodiscard]] std::string response() const;

  const std::string path_;
  const std::function<std::string()> text_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_{io_};
  tcp::socket client_{io_};
  // Until the client is disconnected, or until the next connection is accepted.
  asio::steady_timer timer_{io_};
  std::uint16_t port_ = 0;
  std::string request_, response_;
  std::thread thread_;
};

Expected<void, std::string> TextPage::State::listen(const std::string& address) {
  const auto colon = address.rfind(':');
  const auto port =
      engine::whole_number<std::uint16_t>(colon == std::string::npos ? "" : address.substr(colon + 1));
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  ErrorCode failure;
  const auto bound = asio::ip::make_address(host, failure);
  if (!port || failure)
    return Unexpected{"'" + address + "' is not an address to listen on, such as 127.0.0.1:9464"};
  const tcp::endpoint endpoint(bound, *port);
  acceptor_.open(endpoint.protocol(), failure);
  std::error_code unprepared;
  if (!failure) os::prepare_to_listen(acceptor_.native_handle(), false, unprepared);
  if (unprepared) failure = unprepared;
  if (!failure) acceptor_.bind(endpoint, failure);
  if (!failure) acceptor_.listen(16, failure);
  if (!failure) port_ = acceptor_.local_endpoint(failure).port();
  if (failure) return Unexpected{"cannot listen on " + address + ": " + os::reason(failure)};
  accept();
  try {
    thread_ = std::thread([this] { io_.run(); });
  } catch (const std::system_error&) {
    return Unexpected{std::string("cannot start a thread to listen on ") + address};
  }
  return {};
}

void TextPage::State::accept() {
  acceptor_.async_accept(client_, [this](ErrorCode failure) {
    if (!failure) return answer();
    timer_.expires_after(page_accept_pause);  // a missing resource may be available again a little later
    timer_.async_wait([this](ErrorCode) { accept(); });
  });
}

// Reads a request and responds to it. When time is up, the client's socket is closed, and the operation in
// progress fails.
void TextPage::State::answer() {
  timer_.expires_after(page_exchange_max);
  timer_.async_wait([this](ErrorCode cancelled) {
    ErrorCode ignored;
    if (!cancelled) client_.close(ignored);
  });
  request_.clear();
  asio::async_read_until(client_, asio::dynamic_buffer(request_, page_request_bytes_max), "\r\n\r\n",
                         [this](ErrorCode failure, std::size_t) {
                           if (failure) return end();
                           response_ = response();
                           asio::async_write(client_, asio::buffer(response_),
                                             [this](ErrorCode, std::size_t) { end(); });
                         });
}

void TextPage::State::end() {
  ErrorCode ignored;
  client_.close(ignored);
  timer_.cancel();
  accept();
}

std::string TextPage::State::response() const {
  const std::string_view line = std::string_view(request_).substr(0, request_.find("\r\n"));
  const std::string_view headers = std::string_view(request_).substr(line.size() + 2);
  const bool known = answers_to(header_in(headers, "Host"), {});
  const bool found = line == "GET " + path_ + " HTTP/1.1" || line == "GET " + path_ + " HTTP/1.0";
  const char* const status = !known ? "403 Forbidden" : found ? "200 OK" : "404 Not Found";
  const std::string body = !known ? "The Host header must name this machine.\n" : found ? text_() : "";
  return std::string("HTTP/1.1 ") + status +
         "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
         "X-Content-Type-Options: nosniff\r\nConnection: close\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

TextPage::TextPage(std::unique_ptr<State> state) : state_(std::move(state)) {}
TextPage::~TextPage() = default;

Expected<std::unique_ptr<TextPage>, std::string> TextPage::open(const std::string& address, std::string path,
                                                                std::function<std::string()> text) {
  auto state = std::make_unique<State>(std::move(path), std::move(text));
  CHECK_OK(state->listen(address));
  return std::unique_ptr<TextPage>(new TextPage(std::move(state)));
}

std::uint16_t TextPage::port() const { return state_->port(); }

}  // namespace mayfly::http
