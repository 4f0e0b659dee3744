// Tests single HTTP exchanges with a listener that plays the server.
#include "http/outbound/client.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <stop_token>
#include <thread>

#include "tests/support/one_answer.h"

namespace mayfly::testing {

using compat::outbound::Url;
using http::ClientRequest;

namespace {

// Returns the status and the body, or the error message with HOST in place of the server's address.
std::string told(const OneAnswer& server, const Expected<http::ClientAnswer, std::string>& answer) {
  if (answer) return std::to_string(answer->status) + " " + answer->body;
  std::string sentence = answer.error();
  const std::string authority = Url::parse(server.url())->authority;
  if (const auto at = sentence.find(authority); at != std::string::npos) {
    sentence.replace(at, authority.size(), "HOST");
  }
  return sentence;
}

std::string fetched(std::string bytes) {
  const OneAnswer server(std::move(bytes));
  return told(server, http::fetch(*Url::parse(server.url()), {.method = "GET", .path = "/"}));
}

}  // namespace

TEST_CASE("every request contains its length and Connection: close") {
  OneAnswer server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  const ClientRequest request{.method = "PUT",
                              .path = "/_mayfly/clock",
                              .content_type = "application/json",
                              .headers = {{"X-Mayfly-Account", "000000000042"}},
                              .body = "{}"};
  CHECK(told(server, http::fetch(*Url::parse(server.url("/other")), request)) == "200 ok");
  CHECK(server.take_request() ==
        "PUT /_mayfly/clock HTTP/1.1\r\nHost: " + Url::parse(server.url())->authority +
            "\r\nUser-Agent: mayfly/" MAYFLY_VERSION
            "\r\nAccept: */*\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
            "X-Mayfly-Account: 000000000042\r\n\r\n{}");
}

TEST_CASE("every way to mark the end of a response is supported") {
  CHECK(fetched("HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\nnone, and more") == "404 none");
  CHECK(
      fetched("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n") ==
      "200 abcde");
  CHECK(fetched("HTTP/1.1 200 OK\r\n\r\nto the end") == "200 to the end");
  CHECK(fetched("HTTP/1.1 204 No Content\r\n\r\n") == "204 ");
}

TEST_CASE("a truncated response and a response that is not HTTP are errors") {
  for (const char* bytes : {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", "HTTP/1.1 200 OK\r\nContent-",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"}) {
    CAPTURE(bytes);
    CHECK(fetched(bytes) == "HOST closed the connection before its response was complete");
  }
  for (const char* bytes :
       {"hello\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nabc\r\n"}) {
    CAPTURE(bytes);
    CHECK(fetched(bytes).starts_with("HOST did not answer with HTTP: "));
  }
}

TEST_CASE("a response that exceeds its size or time limit fails with a message") {
  const auto limited = [](const OneAnswer& server, const http::AnswerLimits& limits, const auto& piece) {
    return told(server, http::fetch(*Url::parse(server.url()), {.method = "GET", .path = "/"}, piece, {}, {},
                                    limits));
  };
  const std::function<bool(std::string_view)> none, all = [](std::string_view) { return true; };
  const std::string head = "HTTP/1.1 200 OK\r\n", too_large = "HOST sent a response of more than 4 bytes";
  for (const std::string& rest :
       {std::string("Content-Length: 5\r\n\r\nabcde"),
        std::string("Content-Length: 9223372036854775807\r\n\r\n"), std::string("\r\nabcde"),
        std::string("Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n")}) {
    CAPTURE(rest);
    const OneAnswer server(head + rest);
    CHECK(limited(server, {.bytes_max = 4}, none) == too_large);
  }
  // A response that is delivered in pieces has no size limit, but the client does not reserve memory for a
  // false Content-Length.
  const OneAnswer pieces(head + "Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n");
  CHECK(limited(pieces, {.bytes_max = 4}, all) == "200 ");
  const OneAnswer liar(head + "Content-Length: 9223372036854775807\r\n\r\n");
  CHECK(limited(liar, {.bytes_max = 4}, all) == too_large);
  const OneAnswer refusal("HTTP/1.1 500 Oh\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n");
  CHECK(limited(refusal, {.bytes_max = 4}, all) == too_large);
  const OneAnswer large_header(head + "X: " + std::string(100'000, 'x') + "\r\n\r\n");
  CHECK(limited(large_header, {}, none) == "HOST sent response headers that are too large");

  for (const char* begin : {"HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"}) {
    CAPTURE(begin);
    const OneAnswer slow(begin, true);
    CHECK(limited(slow, {.time_max = std::chrono::milliseconds(1)}, none) ==
          "HOST did not finish its response in time");
  }
}

TEST_CASE("a stop request ends an exchange no matter what the server does") {
  for (const char* begin : {"", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"}) {
    CAPTURE(begin);
    for (const bool before : {true, false}) {
      const OneAnswer server(begin, true);
      std::stop_source stop;
      if (before) stop.request_stop();
      std::thread other([&] { stop.request_stop(); });
      CHECK(told(server, http::fetch(*Url::parse(server.url()), {.method = "GET", .path = "/"}, {}, {},
                                     stop.get_token())) == "interrupted");
      other.join();
      http::Connections connections(*Url::parse(server.url()));
      const auto answer =
          connections.ask({.method = "GET", .path = "/"}, std::chrono::hours(1), stop.get_token());
      REQUIRE_FALSE(answer);
      CHECK(answer.error().kind == http::ExchangeFailure::Kind::stopped);
    }
  }
}

TEST_CASE("the body of a successful response is delivered in pieces as they arrive until the caller stops") {
  const std::string chunks =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  std::string pieces;
  const auto take = [&](std::string_view piece) {
    pieces += piece;
    return pieces.size() < 3;
  };
  {
    const OneAnswer server(chunks);
    const auto all = [&](std::string_view piece) {
      pieces += piece;
      return true;
    };
    const auto answer = http::fetch(*Url::parse(server.url()), {.method = "GET", .path = "/"}, all);
    CHECK(told(server, answer) == "200 ");
    CHECK(pieces == "abcde");
  }
  pieces.clear();
  {
    const OneAnswer server(chunks);
    CHECK(http::fetch(*Url::parse(server.url()), {.method = "GET", .path = "/"}, take));
    CHECK(pieces.starts_with("abc"));
  }
  pieces.clear();
  const OneAnswer server("HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nno");
  CHECK(told(server, http::fetch(*Url::parse(server.url()), {.method = "GET", .path = "/"}, take)) ==
        "500 no");
  CHECK(pieces.empty());
}

TEST_CASE("a connection is kept for the next request but is not reused after the server closes it") {
  using Kind = http::ExchangeFailure::Kind;
  OneAnswer server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  http::Connections connections(*Url::parse(server.url()));
  const ClientRequest request{.method = "GET", .path = "/", .keeps_connection = true};
  CHECK(connections.ask(request, std::chrono::seconds(10))->body == "ok");
  CHECK(server.take_request().find("Connection:") == std::string::npos);
  const auto again = connections.ask(request, std::chrono::seconds(10));
  REQUIRE_FALSE(again);
  CHECK(again.error().kind == Kind::unreachable);
}

TEST_CASE("an exchange is abandoned after its time limit") {
  using Kind = http::ExchangeFailure::Kind;
  for (const char* bytes : {"", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab"}) {
    const OneAnswer server(bytes);
    http::Connections connections(*Url::parse(server.url()));
    const auto answer = connections.ask({.method = "GET", .path = "/"}, std::chrono::milliseconds(50));
    REQUIRE_FALSE(answer);
    CHECK(answer.error().kind == (*bytes == '\0' ? Kind::timed_out : Kind::cut_short));
  }
}

TEST_CASE("an unreachable server is named in the error") {
  const auto sentence = [](const char* url) {
    return http::fetch(*Url::parse(url), {.method = "GET", .path = "/"}).error();
  };
  CHECK(sentence("http://127.0.0.1:1") == "cannot connect to 127.0.0.1:1: Connection refused");
  CHECK(sentence("http://mayfly..example:8000") == "cannot resolve host 'mayfly..example'");
}

TEST_CASE("the client limits every part of a response and skips interim responses") {
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string interim = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
  std::string trailers, interims;
  for (int i = 0; i < 100'000; ++i) trailers += "a: b\r\n";
  for (int i = 0; i <= http::interim_answers_max; ++i) interims += interim;
  for (const std::string& sent :
       {chunked + "2;a=" + std::string(1'000'000, 'x'), chunked + "0\r\n" + trailers, interims}) {
    INFO(sent.substr(0, 100));
    for (const bool in_pieces : {false, true}) {
      OneAnswer endless(sent, true);
      const auto answer = in_pieces ? http::fetch(*Url::parse(endless.url()), {.method = "GET", .path = "/"},
                                                  [](std::string_view) { return true; })
                                    : http::fetch(*Url::parse(endless.url()), {.method = "GET", .path = "/"});
      REQUIRE(!answer);
      CHECK(answer.error().find(" sent ") != std::string::npos);
    }
  }
  OneAnswer hints(interim + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  const auto answer = http::fetch(*Url::parse(hints.url()), {.method = "GET", .path = "/"});
  REQUIRE(answer);
  CHECK(answer->body == "ok");
}

}  // namespace mayfly::testing
