// Resolves names with a name server that the test runs.
#include "http/outbound/name_lookup.h"

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <catch2/catch.hpp>
#include <string>
#include <thread>

namespace mayfly::testing {

using http::look_up;

namespace {

using namespace std::chrono_literals;
using boost::asio::ip::make_address;
using boost::asio::ip::udp;
namespace asio = boost::asio;

// A name server that knows db.internal, which has one IPv4 and one IPv6 address. It never answers
// for silent.internal, sends a malformed answer for nonsense.internal, and reports every other name
// as nonexistent.
class NameServer {
 public:
  NameServer() {
    receive();
    thread_ = std::thread([this] { io_.run(); });
  }
  ~NameServer() {
    io_.stop();
    thread_.join();
  }
  [[nodiscard]] http::NameServers asked(std::chrono::milliseconds answer_time_max) const {
    return {.servers = "127.0.0.1:" + std::to_string(socket_.local_endpoint().port()),
            .answer_time_max = answer_time_max};
  }

 private:
  void receive() {
    socket_.async_receive_from(asio::buffer(bytes_), from_,
                               [this](boost::system::error_code failure, std::size_t got) {
                                 const std::string answer = failure ? "" : answer_to({bytes_.data(), got});
                                 if (!answer.empty())
                                   socket_.send_to(asio::buffer(answer), from_, 0, failure);
                                 receive();
                               });
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

  std::array<char, 512> bytes_{};
  udp::endpoint from_;
  asio::io_context io_;
  udp::socket socket_{io_, {asio::ip::address_v4::loopback(), 0}};
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
