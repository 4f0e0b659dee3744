// Resolves names with a name server that the test runs.
#include "http/outbound/name_lookup.h"

#include <algorithm>
#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace mayfly::testing {

using http::look_up;

namespace {

using namespace std::chrono_literals;
using boost::asio::ip::make_address;

// A name server that knows db.internal, which has one IPv4 and one IPv6 address. It never answers
// for silent.internal, sends a malformed answer for nonsense.internal, and reports every other name
// as nonexistent.
class NameServer {
 public:
  NameServer() : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { serve(); });
  }
  ~NameServer() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }
  [[nodiscard]] http::NameServers asked(std::chrono::milliseconds answer_time_max) const {
    return {.servers = address_, .answer_time_max = answer_time_max};
  }

 private:
  void serve() {
    char bytes[512];
    sockaddr_in from{};
    for (;;) {
      socklen_t size = sizeof from;
      const auto got = ::recvfrom(socket_, bytes, sizeof bytes, 0, reinterpret_cast<sockaddr*>(&from), &size);
      if (got <= 0) return;
      const std::string answer = answer_to({bytes, static_cast<std::size_t>(got)});
      if (answer.empty()) continue;
      ::sendto(socket_, answer.data(), answer.size(), 0, reinterpret_cast<sockaddr*>(&from), size);
    }
  }

  // RFC 1035: header := id flags questions answers authorities additionals, each u16; then the question:
  // labels, a zero, type, class.
  static std::string answer_to(const std::string& query) {
    using namespace std::string_literals;
    const auto is_about = [&](const char* label) { return query.find(label) != query.npos; };
    if (is_about("\6silent")) return {};
    if (is_about("\10nonsense")) return query.substr(0, 2) + "\xff\xff\xff\xff\xff\xff";
    const std::size_t question_end = query.find('\0', 12) + 5;
    const char type = query[question_end - 3];
    const bool known = is_about("\2db\10internal");
    const std::string head = query.substr(0, 2) + (known ? "\x85\x80"s : "\x85\x83"s) + "\0\1"s +
                             (known ? "\0\1"s : "\0\0"s) + "\0\0\0\0"s + query.substr(12, question_end - 12);
    if (!known) return head;
    const std::string address = type == 28 ? "\0\20"s + std::string(15, '\0') + "\1" : "\0\4\x7f\0\0\2"s;
    return head + "\xc0\x0c"s + '\0' + type + "\0\1\0\0\0\x3c"s + address;
  }

  const int socket_;
  std::string address_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("localhost and IP addresses are resolved without a query") {
  const http::NameServers nobody{.servers = "127.0.0.1:1"};
  CHECK(look_up("127.0.0.1", nobody) == std::vector{make_address("127.0.0.1")});
  CHECK(look_up("::1", nobody) == std::vector{make_address("::1")});
  CHECK(look_up("LocalHost", nobody) == std::vector{make_address("127.0.0.1"), make_address("::1")});
}

TEST_CASE("a name resolves to its IPv4 and IPv6 addresses") {
  const NameServer server;
  auto found = look_up("db.internal", server.asked(5s));
  std::sort(found.begin(), found.end());
  CHECK(found == std::vector{make_address("127.0.0.2"), make_address("::1")});
}

TEST_CASE("an unknown or malformed name has no addresses") {
  const NameServer server;
  CHECK(look_up("nobody.internal", server.asked(5s)).empty());
  CHECK(look_up("", server.asked(5s)).empty());
  CHECK(look_up("a..b", server.asked(5s)).empty());
  CHECK(look_up(std::string(64, 'a') + ".internal", server.asked(5s)).empty());
  CHECK(look_up(std::string(100'000, 'a'), server.asked(5s)).empty());
}

TEST_CASE("a lookup fails after the time-out if the name server gives no valid answer") {
  const NameServer server;
  CHECK(look_up("silent.internal", server.asked(50ms)).empty());
  CHECK(look_up("nonsense.internal", server.asked(50ms)).empty());
  CHECK(look_up("db.internal", {.servers = "127.0.0.1:1", .answer_time_max = 50ms}).empty());
}

TEST_CASE("many lookups run at once and an io_context that ends does not wait for its lookups") {
  const NameServer server;
  std::size_t found = 0;
  {
    boost::asio::io_context io{1};
    for (int n = 0; n < 100; ++n) {
      look_up(
          io, "db.internal", [&](const auto& addresses) { found += addresses.size(); }, server.asked(5s));
    }
    io.run();
    CHECK(found == 200);
    look_up(
        io, "silent.internal", [&](const auto&) { found = 0; }, server.asked(5s));
    io.restart();
    io.poll();
  }
  CHECK(found == 200);
}

}  // namespace mayfly::testing
