// Calls functions over real connections; a listener plays the function.
#include "http/outbound/invoker.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <future>

#include "http/outbound/client.h"
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

TEST_CASE("a call posts to its URL exactly as given and sends a Content-Length") {
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

TEST_CASE("a response can be chunked or end when the connection closes") {
  HttpInvoker invoker;
  OneAnswer chunked("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n");
  CHECK(invoker.post(invocation(chunked.url(), "{}"), {})->body == "{}");
  OneAnswer ending("HTTP/1.0 503 Busy\r\n\r\nlater");
  const auto answer = invoker.post(invocation(ending.url(), "{}"), {});
  CHECK(answer->status == 503);
  CHECK(answer->body == "later");
}

TEST_CASE("a failed call reports whether its server was unreachable or too slow or sent no valid response") {
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

TEST_CASE("a call in flight can be stopped") {
  HttpInvoker invoker;
  OneAnswer silent("");
  std::stop_source stop;
  std::thread ends([&] { stop.request_stop(); });
  CHECK(invoker.post(invocation(silent.url(), "{}"), stop.get_token()).error().kind ==
        InvocationFailure::Kind::stopped);
  ends.join();
}

TEST_CASE("any HTTP method works and response headers are returned") {
  OneAnswer object("HTTP/1.1 200 OK\r\nContent-Length: 4096\r\nETag: \"e\"\r\nX-A: 1\r\nX-A: 2\r\n\r\n");
  HttpInvoker invoker;
  Invocation head = invocation(object.url("/bucket/key"), "");
  head.method = "HEAD";
  head.content_type = "";
  const auto answer = invoker.post(head, {});
  REQUIRE(answer);
  CHECK(answer->body.empty());
  CHECK(answer->header("content-LENGTH") == "4096");
  CHECK(answer->header("etag") == "\"e\"");
  CHECK(answer->header("x-a") == "1");
  CHECK(answer->header("x-b").empty());
  const std::string request = object.take_request();
  CHECK(request.starts_with("HEAD /bucket/key HTTP/1.1\r\n"));
  CHECK(request.find("Content-Type") == request.npos);
}

TEST_CASE("a redirect is not followed") {
  OneAnswer elsewhere("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  OneAnswer leads("HTTP/1.1 307 Temporary Redirect\r\nLocation: " + elsewhere.url() +
                  "\r\nContent-Length: 0\r\n\r\n");
  HttpInvoker invoker;
  CHECK(invoker.post(invocation(leads.url(), ""), {})->status == 307);
  CHECK(elsewhere.take_request().empty());
}

TEST_CASE("a call is signed only if it requests a signature and a key is set") {
  const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  const auto asked = [&](HttpInvoker& invoker, bool for_s3) {
    OneAnswer server(ok);
    Invocation call = invocation(server.url("/bucket/key"), "body");
    if (for_s3) call.signing = {"s3", "eu-west-1"};
    CHECK(invoker.post(call, {}));
    return server.take_request();
  };
  HttpInvoker with_key{Key{.id = "AKID", .secret = "secret", .session_token = "token"}};
  HttpInvoker without;
  const std::string signed_call = asked(with_key, true);
  CHECK(signed_call.find("\r\nAuthorization: AWS4-HMAC-SHA256 Credential=AKID/") != signed_call.npos);
  CHECK(signed_call.find("/eu-west-1/s3/aws4_request, SignedHeaders=content-type;host;x-amz-content-sha256;"
                         "x-amz-date;x-amz-security-token, Signature=") != signed_call.npos);
  CHECK(signed_call.find("secret\r\n") == signed_call.npos);
  CHECK(asked(with_key, false).find("Authorization") == std::string::npos);
  CHECK(asked(without, true).find("Authorization") == std::string::npos);
}

TEST_CASE("a response that is too long or cut off is a failure") {
  HttpInvoker invoker;
  OneAnswer largest("HTTP/1.1 200 OK\r\nContent-Length: 6291556\r\n\r\n" + std::string(6'291'556, 'x'));
  CHECK(invoker.post(invocation(largest.url(), ""), {})->body.size() == 6'291'556);
  for (const char* head :
       {"Content-Length: 6291557\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n600065\r\n"}) {
    OneAnswer longer(std::string("HTTP/1.1 200 OK\r\n") + head + std::string(6'291'557, 'x') +
                     "\r\n0\r\n\r\n");
    const auto answer = invoker.post(invocation(longer.url(), ""), {});
    REQUIRE(!answer);
    CHECK(answer.error().kind == InvocationFailure::Kind::no_answer);
    CHECK(answer.error().sentence ==
          longer.url() +
              " failed: Response payload size exceeded maximum allowed payload size (6291556 bytes).");
  }
  // The 6 MB limit applies only to function responses; responses from S3 have a higher limit.
  const auto signed_answer = [&](const std::string& answer) {
    OneAnswer bucket(answer);
    Invocation call = invocation(bucket.url(), "");
    call.signing = {"s3", "eu-west-1"};
    return invoker.post(call, {});
  };
  CHECK(signed_answer("HTTP/1.1 200 OK\r\nContent-Length: 6291557\r\n\r\n" + std::string(6'291'557, 'x'))
            ->body.size() == 6'291'557);
  CHECK(signed_answer("HTTP/1.1 200 OK\r\nContent-Length: 16777217\r\n\r\n").error().kind ==
        InvocationFailure::Kind::no_answer);
  OneAnswer cut_off("HTTP/1.1 206 Partial Content\r\nContent-Length: 10\r\n\r\n12345");
  CHECK(invoker.post(invocation(cut_off.url(), ""), {}).error().kind == InvocationFailure::Kind::no_answer);
}

TEST_CASE("responses in flight share a memory limit and a call that would exceed the limit fails") {
  HttpInvoker invoker({}, 100'000);
  const auto asked = [&](std::size_t bytes, bool says_length = true) {
    const std::string length = says_length ? "Content-Length: " + std::to_string(bytes) + "\r\n" : "";
    OneAnswer function("HTTP/1.1 200 OK\r\n" + length + "\r\n" + std::string(bytes, 'x'));
    return invoker.post(invocation(function.url(), "{}"), {});
  };
  CHECK(asked(60'000)->body.size() == 60'000);
  for (const bool says_length : {true, false})
    CHECK(asked(200'000, says_length).error().kind == InvocationFailure::Kind::unable);

  // The response that arrives later exceeds the limit. If that is the slow response, the loop repeats.
  for (bool refused = false; !refused;) {
    OneAnswer slow("HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\nx", /*stays=*/true);
    std::stop_source stop;
    std::promise<InvocationFailure::Kind> ended;
    auto end = ended.get_future();
    invoker.start(
        invocation(slow.url(), "{}"), stop.get_token(),
        [&](const compat::outbound::Invoker::Answer& answer) { ended.set_value(answer.error().kind); });
    while (!refused && end.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
      const auto beside = asked(60'000);
      if (beside) continue;
      refused = true;
      CHECK(beside.error().kind == InvocationFailure::Kind::unable);
      CHECK(beside.error().sentence.ends_with(" failed: responses in flight exceed their memory limit"));
    }
    stop.request_stop();
    CHECK(end.get() == (refused ? InvocationFailure::Kind::stopped : InvocationFailure::Kind::unable));
  }
  CHECK(asked(60'000)->body.size() == 60'000);
}

TEST_CASE("every part of a response has a size limit") {
  HttpInvoker invoker;
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string interim = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
  const std::string final_answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
  std::string trailers, interims;
  for (int i = 0; i < 100'000; ++i) trailers += "a: b\r\n";
  for (int i = 0; i <= interim_answers_max; ++i) interims += interim;
  for (const std::string& answer :
       {chunked + "2;a=" + std::string(1'000'000, 'x'), chunked + "0\r\n" + trailers, interims + final_answer,
        std::string("HTTP/1.1 101 Switching Protocols\r\n\r\n")}) {
    INFO(answer.substr(0, 100));
    OneAnswer endless(answer, true);
    const auto refused = invoker.post(invocation(endless.url(), "{}"), {});
    REQUIRE(!refused);
    CHECK(refused.error().kind == InvocationFailure::Kind::no_answer);
  }
  OneAnswer hints(interim + interim + final_answer);
  const auto answer = invoker.post(invocation(hints.url(), "{}"), {});
  REQUIRE(answer);
  CHECK(answer->status == 200);
  CHECK(answer->body == "{}");
}

TEST_CASE("non-ASCII bytes in response headers are replaced") {
  HttpInvoker invoker;
  OneAnswer odd(
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Amz-Function-Error: a\xff\tb\r\nETag: \xc3\xa4\r\n\r\n");
  const auto answer = invoker.post(invocation(odd.url(), "{}"), {});
  REQUIRE(answer);
  CHECK(answer->function_error == "a??b");
  CHECK(answer->header("etag") == "??");
}

}  // namespace mayfly::testing
