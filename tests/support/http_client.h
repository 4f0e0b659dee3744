// An HTTP connection for tests: sends any bytes and reads complete responses.
//
//   HttpClient client(server.port());
//   client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
//   HttpAnswer answer = client.receive();
//   REQUIRE(answer.status == 200);
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly::testing {

struct HttpAnswer {
  int status = 0;                              // 0: the server closed the connection without a response
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;                            // as sent, after removing chunked framing
};

// Reading throws, which fails the test, if no byte arrives for 30 seconds.
class HttpClient {
 public:
  // `receive_bytes` is the size of the kernel's receive buffer; 0 means the default.
  explicit HttpClient(std::uint16_t port, int receive_bytes = 0);
  // Connects to ::1.
  static std::unique_ptr<HttpClient> to_ipv6(std::uint16_t port);
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  void send(std::string_view bytes);             // sends everything, or stops if the connection is closed
  void finish_sending();                         // shutdown(SHUT_WR)
  HttpAnswer receive(bool to_head = false);      // a response to HEAD has no body despite Content-Length
  std::string read_until(std::string_view end);  // raw bytes, up to and including `end`
  std::string read_all();                        // raw bytes until the connection ends or is reset
  std::size_t drain();                           // like read_all, but returns only the number of bytes
  bool closed_by_server();                       // waits until a byte arrives or the connection ends
  void reset();                                  // closes the connection with a reset

 private:
  HttpClient(const boost::asio::ip::tcp::endpoint& server, int receive_bytes);
  bool fill();

  boost::asio::io_context io_;
  boost::asio::ip::tcp::socket socket_{io_};
  std::string in_;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

// A request with Host and `headers`. It also has Content-Length, unless `headers` already says where the body
// ends.
std::string http_request(std::string_view method, std::string_view target, const Headers& headers = {},
                         std::string_view body = {});
// A signed request for an operation: "ListTables", "{}".
std::string operation_request(std::string_view operation, std::string_view body, const Headers& headers = {});

}  // namespace mayfly::testing
