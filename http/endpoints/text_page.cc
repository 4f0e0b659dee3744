#include "http/endpoints/text_page.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <poll.h>
#include <string_view>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "engine/base/clock.h"
#include "engine/base/whole_number.h"
#include "http/access/access.h"
#include "http/requests/request.h"

namespace mayfly::http {

namespace {

constexpr std::chrono::seconds page_exchange_max{2};
constexpr std::chrono::milliseconds accept_pause{100};
constexpr std::size_t page_request_bytes_max = 8 * 1024;

// Waits until the socket is readable or writable. Returns false if the deadline passes.
bool wait_until(int socket, short events, engine::RealTime deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - engine::host_time()).count();
  pollfd waited{.fd = socket, .events = events, .revents = 0};
  return left > 0 && ::poll(&waited, 1, static_cast<int>(left)) == 1;
}

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

Expected<std::unique_ptr<TextPage>, std::string> TextPage::open(const std::string& address, std::string path,
                                                                std::function<std::string()> text) {
  std::unique_ptr<TextPage> page(new TextPage(std::move(path), std::move(text)));
  CHECK_OK(page->listen(address));
  try {
    page->thread_ = std::thread([page = page.get()] { page->run(); });
  } catch (const std::system_error&) {
    return Unexpected{std::string("cannot start a thread to listen on ") + address};
  }
  return page;
}

Expected<void, std::string> TextPage::listen(const std::string& address) {
  const auto colon = address.rfind(':');
  const auto port =
      engine::whole_number<std::uint16_t>(colon == std::string::npos ? "" : address.substr(colon + 1));
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  sockaddr_in four{};
  sockaddr_in6 six{};
  four.sin_family = AF_INET;
  six.sin6_family = AF_INET6;
  const bool is_four = ::inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1;
  if (!port || (!is_four && ::inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) != 1))
    return Unexpected{"'" + address + "' is not an address to listen on, such as 127.0.0.1:9464"};
  four.sin_port = six.sin6_port = htons(*port);
  auto* const bound = is_four ? reinterpret_cast<sockaddr*>(&four) : reinterpret_cast<sockaddr*>(&six);
  socklen_t size = is_four ? sizeof four : sizeof six;
  const int yes = 1;
  socket_ = ::socket(bound->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  end_ = ::eventfd(0, EFD_CLOEXEC);
  if (socket_ < 0 || end_ < 0 || ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
      ::bind(socket_, bound, size) != 0 || ::listen(socket_, 16) != 0 ||
      ::getsockname(socket_, bound, &size) != 0)
    return Unexpected{"cannot listen on " + address + ": " + std::strerror(errno)};
  port_ = ntohs(is_four ? four.sin_port : six.sin6_port);
  return {};
}

TextPage::~TextPage() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(end_, &one, sizeof one);
    thread_.join();
  }
  if (socket_ >= 0) ::close(socket_);
  if (end_ >= 0) ::close(end_);
}

void TextPage::run() const {
  for (;;) {
    pollfd waited[] = {{.fd = end_, .events = POLLIN, .revents = 0},
                       {.fd = socket_, .events = POLLIN, .revents = 0}};
    if (::poll(waited, 2, -1) < 0 && errno != EINTR) return;
    if (waited[0].revents != 0) return;
    const int connection = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connection < 0) {  // a missing resource may be available again a little later
      (void)::poll(waited, 1, static_cast<int>(accept_pause.count()));
      continue;
    }
    answer(connection);
    ::close(connection);
  }
}

void TextPage::answer(int connection) const {
  const engine::RealTime deadline = engine::host_time() + page_exchange_max;
  std::string request;
  while (request.find("\r\n\r\n") == std::string::npos) {
    char piece[2048];
    if (request.size() > page_request_bytes_max || !wait_until(connection, POLLIN, deadline)) return;
    const auto bytes = ::recv(connection, piece, sizeof piece, 0);
    if (bytes <= 0) return;
    request.append(piece, static_cast<std::size_t>(bytes));
  }
  const std::string_view line = std::string_view(request).substr(0, request.find("\r\n"));
  const std::string_view headers = std::string_view(request).substr(line.size() + 2);
  const bool known = answers_to(header_in(headers, "Host"), {});
  const bool found = line == "GET " + path_ + " HTTP/1.1" || line == "GET " + path_ + " HTTP/1.0";
  const char* const status = !known ? "403 Forbidden" : found ? "200 OK" : "404 Not Found";
  const std::string body = !known ? "The Host header must name this machine.\n" : found ? text_() : "";
  const std::string bytes = std::string("HTTP/1.1 ") + status +
                            "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
                            "X-Content-Type-Options: nosniff\r\nConnection: close\r\nContent-Length: " +
                            std::to_string(body.size()) + "\r\n\r\n" + body;
  for (std::string_view left = bytes; !left.empty();) {
    if (!wait_until(connection, POLLOUT, deadline)) return;
    const auto sent = ::send(connection, left.data(), left.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    left.remove_prefix(static_cast<std::size_t>(sent));
  }
}

}  // namespace mayfly::http
