// A connection for tests: sends bytes as they are told, reads whole answers.
//
//   HttpClient client(server.port());
//   client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
//   HttpAnswer answer = client.receive();
//   REQUIRE(answer.status == 200);
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly::testing {

struct HttpAnswer {
  int status = 0;                              // 0: the server closed the connection instead
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;                            // as sent; a chunked one put together
};

// Reading fails the test, by an exception, when nothing comes for 30 seconds.
class HttpClient {
 public:
  // `receive_bytes`: how much the kernel takes for us before we read; 0: as it likes.
  explicit HttpClient(std::uint16_t port, int receive_bytes = 0);
  // On ::1.
  static std::unique_ptr<HttpClient> to_ipv6(std::uint16_t port);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  void send(std::string_view bytes);             // whole; what a closed connection does not take is dropped
  void finish_sending();                         // nothing more will come: shutdown(SHUT_WR)
  HttpAnswer receive(bool to_head = false);      // a HEAD's answer has no body, whatever its length says
  std::string read_until(std::string_view end);  // raw bytes, up to and with `end`
  std::string read_all();                        // raw bytes, to the end of the connection, however it ends
  std::size_t drain();                           // how many bytes that are; they are not kept
  bool closed_by_server();                       // waits until something comes or the connection ends
  void reset();                                  // close it the rude way

 private:
  HttpClient(int family, std::uint16_t port, int receive_bytes);
  bool fill();
  int socket_;
  std::string in_;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

// "METHOD target HTTP/1.1", Host, Content-Length (unless `headers` frames the body itself), `headers`, the
// body.
std::string http_request(std::string_view method, std::string_view target, const Headers& headers = {},
                         std::string_view body = {});
// A signed call of an operation: "ListTables", "{}".
std::string operation_request(std::string_view operation, std::string_view body, const Headers& headers = {});

}  // namespace mayfly::testing
