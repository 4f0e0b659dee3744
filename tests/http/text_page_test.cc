// Tests the page from which Prometheus scrapes a command's metrics.
#include "http/endpoints/text_page.h"

#include <catch2/catch.hpp>

#include "tests/support/http_client.h"

namespace mayfly::testing {

TEST_CASE("the page answers only a GET for its path with a local Host") {
  int shown = 0;
  auto page =
      http::TextPage::open("127.0.0.1:0", "/metrics", [&] { return "shown " + std::to_string(++shown); });
  REQUIRE(page);
  const auto ask = [&](const std::string& bytes) {
    HttpClient client((*page)->port());
    client.send(bytes);
    return client.receive();
  };
  CHECK(ask("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").body == "shown 1");
  CHECK(ask("GET /metrics HTTP/1.1\r\nhost: localhost:9464\r\n\r\n").body == "shown 2");
  CHECK(ask("GET /other HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").status == 404);
  CHECK(ask("POST /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").status == 404);
  // A page of evil.example sends this request after DNS rebinding to this machine.
  CHECK(ask("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n").status == 403);
  CHECK(ask("GET /metrics HTTP/1.1\r\n\r\n").status == 403);
  CHECK(shown == 2);
}

TEST_CASE("a client that sends no request or an endless one is disconnected and the next client is served") {
  auto page = http::TextPage::open("127.0.0.1:0", "/metrics", [] { return std::string("shown"); });
  REQUIRE(page);
  HttpClient silent((*page)->port()), endless((*page)->port()), next((*page)->port());
  endless.send("GET /metrics HTTP/1.1\r\n" + std::string(20'000, 'x'));
  next.send("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  CHECK(silent.closed_by_server());
  CHECK(endless.closed_by_server());
  CHECK(next.receive().body == "shown");
}

TEST_CASE("a page cannot be served at an address that is invalid or in use") {
  const auto problem = [](const std::string& address) {
    return http::TextPage::open(address, "/", [] { return std::string(); }).error();
  };
  for (const char* none : {"", "9464", "127.0.0.1", "127.0.0.1:70000", "example.com:80", "127.0.0.1:"})
    CHECK(problem(none) ==
          "'" + std::string(none) + "' is not an address to listen on, such as 127.0.0.1:9464");
  auto page = http::TextPage::open("[::1]:0", "/", [] { return std::string(); });
  REQUIRE(page);
  CHECK(problem("[::1]:" + std::to_string((*page)->port())) ==
        "cannot listen on [::1]:" + std::to_string((*page)->port()) + ": Address already in use");
}

}  // namespace mayfly::testing
