#include "cli/client.h"

#include <arpa/inet.h>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <netinet/in.h>
#include <optional>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/whole_number.h"
#include "http/request.h"

namespace mayfly::http {

namespace {

using compat::outbound::Url;

class Socket {
 public:
  explicit Socket(int number) : number_(number) {}
  ~Socket() {
    if (number_ >= 0) ::close(number_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

std::optional<Address> address_of(const Url& url) {
  const std::string host = url.host == "localhost" ? "127.0.0.1" : url.host;
  Address address;
  if (auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
      ::inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(url.port);
    address.size = sizeof *v4;
    return address;
  }
  if (auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
      ::inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(url.port);
    address.size = sizeof *v6;
    return address;
  }
  return std::nullopt;
}

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// What comes, with what was read too far.
class Reader {
 public:
  explicit Reader(int socket) : socket_(socket) {}

  // More than there was; false: the connection has ended.
  bool fill() {
    char piece[16 * 1024];
    ssize_t got = 0;
    do {
      got = ::recv(socket_, piece, sizeof piece, 0);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) return false;
    in_.append(piece, static_cast<std::size_t>(got));
    return true;
  }
  std::optional<std::string> take_until(std::string_view end) {
    std::size_t found = 0;
    while ((found = in_.find(end)) == std::string::npos) {
      if (!fill()) return std::nullopt;
    }
    std::string taken = in_.substr(0, found);
    in_.erase(0, found + end.size());
    return taken;
  }
  std::optional<std::string> take(std::size_t bytes) {
    while (in_.size() < bytes) {
      if (!fill()) return std::nullopt;
    }
    std::string taken = in_.substr(0, bytes);
    in_.erase(0, bytes);
    return taken;
  }

 private:
  int socket_;
  std::string in_;
};

struct Head {
  int status = 0;
  bool chunked = false;
  std::size_t length = 0;
};

std::optional<Head> parse_head(std::string_view text) {
  Head head;
  if (!text.starts_with("HTTP/1.") || text.size() < 12) return std::nullopt;
  const auto status = engine::whole_number<int>(text.substr(9, 3));
  if (!status) return std::nullopt;
  head.status = *status;
  for (auto end = text.find("\r\n"); end != std::string_view::npos; end = text.find("\r\n")) {
    text.remove_prefix(end + 2);
    const std::string_view line = text.substr(0, text.find("\r\n"));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view value = trim(line.substr(colon + 1));
    if (equals_ignoring_case(line.substr(0, colon), "transfer-encoding")) head.chunked = true;
    if (equals_ignoring_case(line.substr(0, colon), "content-length")) {
      head.length = engine::whole_number<std::size_t>(value).value_or(0);
    }
  }
  return head;
}

}  // namespace

Expected<ClientAnswer, std::string> fetch(const Url& server, const ClientRequest& request,
                                          const std::function<bool(std::string_view)>& piece) {
  const auto address = address_of(server);
  if (!address) return Unexpected{"host '" + server.host + "' is neither an IP address nor localhost"};
  const Socket socket(::socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.number() < 0 ||
      ::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address->storage), address->size) != 0) {
    return Unexpected{"cannot connect to " + server.authority + ": " + std::strerror(errno)};
  }
  std::string bytes = request.method + " " + request.path + " HTTP/1.1\r\nHost: " + server.authority +
                      "\r\nConnection: close\r\nContent-Length: " + std::to_string(request.body.size()) +
                      "\r\n";
  for (const auto& [name, value] : request.headers) bytes += name + ": " + value + "\r\n";
  bytes += "\r\n" + request.body;

  const Unexpected cut_short{server.authority + " ended the connection before its answer was whole"};
  if (!send_all(socket.number(), bytes)) return cut_short;
  Reader reader(socket.number());
  const auto head_text = reader.take_until("\r\n\r\n");
  const auto head = head_text ? parse_head(*head_text) : std::nullopt;
  if (!head) return cut_short;
  ClientAnswer answer{.status = head->status};
  const auto give = [&](std::string part) {
    if (piece && head->status == 200) return piece(part);
    answer.body += part;
    return true;
  };
  if (!head->chunked) {
    auto body = reader.take(head->length);
    if (!body) return cut_short;
    give(*std::move(body));
    return answer;
  }
  for (;;) {
    const auto size_text = reader.take_until("\r\n");
    std::size_t size = 0;
    if (!size_text ||
        std::from_chars(size_text->data(), size_text->data() + size_text->size(), size, 16).ec !=
            std::errc{}) {
      return cut_short;
    }
    auto part = reader.take(size + 2);
    if (!part) return cut_short;
    if (size == 0) return answer;
    part->resize(size);
    if (!give(*std::move(part))) return answer;
  }
}

}  // namespace mayfly::http
