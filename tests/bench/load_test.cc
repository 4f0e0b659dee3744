// Tests that script/bench's load generator counts a response only if it is correct.
#include "bench/load.h"

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

namespace mayfly::testing {

using namespace bench;

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// Answers the requests with the given responses in order. Serves one connection at a time, and stops after
// the last response.
class Server {
 public:
  explicit Server(std::vector<std::string> answers)
      : acceptor_(io_, {asio::ip::make_address("127.0.0.1"), 0}),
        thread_([this, answers] { serve(answers); }) {}
  ~Server() { thread_.join(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  void serve(const std::vector<std::string>& answers) {
    tcp::socket socket = acceptor_.accept();
    asio::streambuf received;
    for (const std::string& answer : answers) {
      boost::system::error_code error;
      received.consume(asio::read_until(socket, received, "\r\n\r\n", error));
      if (error) return;
      asio::write(socket, asio::buffer(answer), error);
      if (answer.find("Connection: close") == answer.npos) continue;
      received.consume(received.size());
      socket = acceptor_.accept();
    }
  }

  asio::io_context io_;
  tcp::acceptor acceptor_;
  std::thread thread_;
};

std::string answer(const std::string& body, const std::string& more = "") {
  return "HTTP/1.1 200 OK\r\n" + more + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

const std::vector<Check> two_marks = {{Check::Kind::count, 2, "\"mark\""}};

}  // namespace

TEST_CASE("a response is correct if its status is 200 and all checks pass") {
  const std::string body = R"({"Items":[{"m":"mark"},{"m":"mark"}],"UnprocessedKeys": { } })";
  CHECK(fault(200, body, two_marks).empty());
  CHECK(fault(200, body, {{Check::Kind::count, 0, "\"other\""}}).empty());
  CHECK(fault(200, body, {{Check::Kind::empty, 0, "UnprocessedKeys"}}).empty());
  CHECK(fault(200, body, {{Check::Kind::empty, 0, "UnprocessedItems"}}).empty());
  CHECK(fault(200, " {}\n", {{Check::Kind::whole, 0, "{}"}}).empty());

  CHECK(fault(500, "no", two_marks) == "status 500: no");
  CHECK(fault(200, R"({"m":"mark"})", two_marks) ==
        R"("mark" occurs 1 times in the response, not 2: {"m":"mark"})");
  CHECK(fault(200, R"({"UnprocessedKeys":{"t":[]}})", {{Check::Kind::empty, 0, "UnprocessedKeys"}}) ==
        R"(UnprocessedKeys is not empty: {"UnprocessedKeys":{"t":[]}})");
  CHECK(fault(200, R"({"a":1})", {{Check::Kind::whole, 0, "{}"}}) == R"(the response is not {}: {"a":1})");
}

TEST_CASE("the load generator accepts responses in any framing and counts wrong responses separately") {
  const Server server({
      answer("{}"),
      answer("{}", "Connection: close\r\n"),
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
      answer(R"({"wrong":true})"),
      "HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno",
  });
  const std::vector<Request> requests = {
      {"GET / HTTP/1.1\r\nHost: it\r\n\r\n", {{Check::Kind::whole, 0, "{}"}}}};
  const Load load = generate_load(server.port(), 1, std::chrono::seconds(60), requests);
  CHECK(load.requests == 3);
  CHECK(load.wrong == 3);  // two responses and a refused connection
  CHECK(load.first_wrong == R"(the response is not {}: {"wrong":true})");
}

}  // namespace mayfly::testing
