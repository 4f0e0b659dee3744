// Functions over real connections, against a listener that plays the function.
#include "http/invoker.h"

#include <catch2/catch.hpp>

#include "http/name_lookup.h"
#include "tests/support/one_answer.h"

namespace mayfly::testing {

using namespace http;

namespace {

using namespace std::chrono_literals;
using compat::outbound::Invocation;
using compat::outbound::InvocationFailure;
using compat::outbound::Url;

Invocation invocation(const std::string& url, std::string body) {
  return {.url = *Url::parse(url), .body = std::move(body)};
}

}  // namespace

TEST_CASE("an URL is posted as it was given, with Content-Length") {
  OneAnswer function("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX-Amz-Function-Error: Handled\r\n\r\nnull");
  HttpInvoker invoker;
  const auto answer = invoker.post(
      invocation(function.url("/2015-03-31/functions/function/invocations?a=%20b"), "{\"a\":1}"), {});
  REQUIRE(answer);
  CHECK(answer->status == 200);
  CHECK(answer->body == "null");
  CHECK(answer->function_error == "Handled");
  std::string host = function.url("").substr(7);
  CHECK(function.take_request() ==
        "POST /2015-03-31/functions/function/invocations?a=%20b HTTP/1.1\r\nHost: " + host +
            "\r\nUser-Agent: mayfly/" MAYFLY_VERSION
            "\r\nAccept: */*\r\nConnection: close\r\n"
            "Content-Type: application/json\r\nContent-Length: 7\r\n\r\n{\"a\":1}");
}

TEST_CASE("answers may be chunked, or end with their connection") {
  HttpInvoker invoker;
  OneAnswer chunked("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n");
  CHECK(invoker.post(invocation(chunked.url(), "{}"), {})->body == "{}");
  OneAnswer ending("HTTP/1.0 503 Busy\r\n\r\nlater");
  const auto answer = invoker.post(invocation(ending.url(), "{}"), {});
  CHECK(answer->status == 503);
  CHECK(answer->body == "later");
}

TEST_CASE("who cannot be reached, does not answer, or not in time, is told apart") {
  HttpInvoker invoker;
  std::string nobody;
  {
    OneAnswer closed("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    nobody = closed.url();
    CHECK(invoker.post(invocation(nobody, "{}"), {}));
  }
  CHECK(invoker.post(invocation(nobody, "{}"), {}).error().kind == InvocationFailure::Kind::unreachable);
  CHECK(invoker.post(invocation("http://no-such-host.invalid/", "{}"), {}).error().kind ==
        InvocationFailure::Kind::unreachable);
  OneAnswer garbage("what?");
  CHECK(invoker.post(invocation(garbage.url(), "{}"), {}).error().kind == InvocationFailure::Kind::no_answer);
  OneAnswer silent("");
  Invocation hurried = invocation(silent.url(), "{}");
  hurried.time_max = 50ms;
  CHECK(invoker.post(hurried, {}).error().kind == InvocationFailure::Kind::timed_out);
}

TEST_CASE("a call that is under way can be ended") {
  HttpInvoker invoker;
  OneAnswer silent("");
  std::stop_source stop;
  std::thread ends([&] { stop.request_stop(); });
  CHECK(invoker.post(invocation(silent.url(), "{}"), stop.get_token()).error().kind ==
        InvocationFailure::Kind::stopped);
  ends.join();
}

TEST_CASE("localhost and addresses are found without asking anybody") {
  CHECK(look_up("127.0.0.1").size() == 1);
  CHECK(look_up("::1").size() == 1);
  CHECK(look_up("localhost").size() == 2);
}

}  // namespace mayfly::testing
