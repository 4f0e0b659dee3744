// Tests a bucket at an S3 endpoint: the requests that it sends, and how it handles invalid responses.
#include "compat/buckets/s3_bucket.h"

#include <catch2/catch.hpp>

#include "compat/buckets/buckets.h"
#include "compat/buckets/s3_xml.h"
#include "tests/support/bucket_calls.h"
#include "tests/support/engine_world.h"
#include "tests/support/fake_s3.h"

namespace mayfly::testing {

namespace {

using namespace compat::buckets;
using compat::outbound::InvocationAnswer;
using compat::outbound::InvocationFailure;
using compat::outbound::Url;
using Keys = std::vector<std::string>;

struct S3Place {
  std::shared_ptr<FakeS3> s3 = std::make_shared<FakeS3>();
  S3Bucket bucket;
  BucketCalls calls{bucket};

  explicit S3Place(const std::string& url = "http://s3.test:9000", const std::string& name = "exports")
      : bucket({*Url::parse(url), "eu-west-1", s3}, name) {}
  void answers(InvocationAnswer answer) {
    s3->instead = [answer](const auto&) { return std::optional<FakeS3::Answer>(answer); };
  }
};

}  // namespace

TEST_CASE("S3 requests use path-style URLs with keys that are encoded once and are signed for S3") {
  S3Place place("http://s3.test:9000/base/");
  std::vector<std::string> urls;
  place.s3->instead = [&](const FakeS3::Invocation& invocation) {
    urls.push_back(invocation.url.text);
    CHECK(invocation.signing->service == "s3");
    CHECK(invocation.signing->region == "eu-west-1");
    CHECK(invocation.content_type.empty());
    return std::optional<FakeS3::Answer>(FakeS3::error(404, "NoSuchKey"));
  };
  CHECK(place.calls.get("a b/c+d=é?#%") == "NoSuchKey");
  CHECK(place.calls.list("p q&r", "t/+=").error().code == "NoSuchKey");
  CHECK(urls == Keys{"http://s3.test:9000/base/exports/a%20b/c%2Bd%3D%C3%A9%3F%23%25",
                     "http://s3.test:9000/base/exports?encoding-type=url&list-type=2&max-keys=1000&prefix="
                     "p%20q%26r&continuation-token=t%2F%2B%3D"});
}

TEST_CASE("objects put into an S3 bucket can be read and listed") {
  S3Place place;
  const auto stored = place.calls.store("2024/a b.json", "{}", 1);
  REQUIRE(stored);
  CHECK(stored->etag == "99914b932bd37a50b983c5e7c90ae93b");
  CHECK(stored->bytes == 2);
  CHECK(place.s3->requests == Keys{"PUT /exports/2024/a%20b.json"});
  CHECK(place.calls.get("2024/a b.json") == "{}");
  CHECK(place.calls.head("2024/a b.json")->bytes == 2);
  CHECK(place.calls.head("nothing").error().code == "NoSuchKey");
  CHECK(place.calls.put("empty", "") == "");
  CHECK(place.calls.get("empty").empty());
  CHECK(place.calls.get("nothing") == "NoSuchKey");
  place.s3->page_size = 1;
  CHECK(place.calls.keys("") == Keys{"2024/a b.json", "empty"});
  CHECK(place.calls.keys("2024") == Keys{"2024/a b.json"});
}

TEST_CASE("an object is read in pieces that all belong to one version") {
  S3Place place;
  std::string bytes;
  for (int i = 0; bytes.size() < piece_bytes_max * 2 + 7; ++i) bytes += std::to_string(i) + ",";
  place.s3->objects["a"] = bytes;
  CHECK(place.calls.get("a") == bytes);
  CHECK(place.s3->requests.size() == 3);
  place.s3->knows_ranges = false;
  CHECK(place.calls.get("a") == bytes);
  place.s3->knows_ranges = true;
  for (const bool knows_conditions : {true, false}) {
    place.s3->knows_conditions = knows_conditions;
    const auto first = wait<Piece>([&](auto done) { place.bucket.read("a", 0, "", {}, done); });
    REQUIRE(first);
    place.s3->objects["a"] += "more";
    const auto second = wait<Piece>(
        [&](auto done) { place.bucket.read("a", first->bytes.size(), first->version, {}, done); });
    REQUIRE(!second);
    CHECK(second.error().code == "PreconditionFailed");
  }
}

TEST_CASE("a large object is uploaded in parts and a failed upload is aborted") {
  S3Place place;
  std::string bytes(part_bytes * 2 + 5, 'x');
  bytes[part_bytes] = 'y';
  const auto stored = place.calls.store("a", bytes, 1'000'000);
  REQUIRE(stored);
  CHECK(stored->etag == "whole-2");
  CHECK(stored->bytes == bytes.size());
  CHECK((place.s3->objects["a"] == bytes));
  CHECK(place.s3->largest_body < part_bytes * 2);
  CHECK(place.s3->requests.front() == "POST /exports/a?uploads=");
  CHECK(place.s3->requests[1] == "PUT /exports/a?partNumber=1&uploadId=the%20%26%20id");

  place.s3->instead = [](const FakeS3::Invocation& invocation) {
    const bool second = invocation.url.target.find("partNumber=2") != std::string::npos;
    return second ? std::optional<FakeS3::Answer>(FakeS3::error(503, "SlowDown")) : std::nullopt;
  };
  CHECK(place.calls.put("b", bytes) == "SlowDown");
  CHECK(place.s3->requests.back() == "DELETE /exports/b?uploadId=the%20%26%20id");
  CHECK(place.s3->uploads.empty());
  CHECK(!place.s3->objects.contains("b"));
  // Completing the upload returns status 200 with an error in the body.
  place.s3->instead = [](const FakeS3::Invocation& invocation) {
    if (invocation.method != "POST" || invocation.url.target.ends_with("uploads="))
      return std::optional<FakeS3::Answer>();
    return std::optional<FakeS3::Answer>(FakeS3::error(200, "InternalError"));
  };
  CHECK(place.calls.put("c", bytes) == "InternalError");
  CHECK(place.s3->uploads.empty());
}

TEST_CASE("an endpoint's error code and message are formatted as in AWS's failure messages") {
  S3Place place("http://s3.test:9000", "unknown");
  const auto listing = place.calls.list("");
  REQUIRE(!listing);
  CHECK(failure_code(listing.error()) == "S3NoSuchBucket");
  CHECK(failure_message(listing.error()) ==
        "It is NoSuchBucket (Service: Amazon S3; Status Code: 404; Error Code: NoSuchBucket; Request ID: R1; "
        "S3 "
        "Extended Request ID: H1=; Proxy: null)");
  CHECK(
      failure_message(no_such_bucket()) ==
      "The specified bucket does not exist (Service: Amazon S3; Status Code: 404; Error Code: NoSuchBucket; "
      "Request ID: null; S3 Extended Request ID: null; Proxy: null)");
  place.answers({.status = 403, .headers = {{"X-Amz-Request-Id", "R2"}}});
  const auto head = place.calls.head("a");
  CHECK(head.error().code == "AccessDenied");
  CHECK(head.error().request_id == "R2");
  place.answers({.status = 301, .body = "", .headers = {{"Location", "http://elsewhere/"}}});
  CHECK(place.calls.get("a") == "InternalError");
  CHECK(place.s3->requests.size() == 3);  // the redirect was not followed
}

TEST_CASE("an unreachable or slow endpoint is reported with S3's error names") {
  S3Place place;
  const std::vector<std::pair<InvocationFailure::Kind, std::string>> kinds = {
      {InvocationFailure::Kind::unreachable, "ServiceUnavailable"},
      {InvocationFailure::Kind::unable, "ServiceUnavailable"},
      {InvocationFailure::Kind::timed_out, "RequestTimeout"},
      {InvocationFailure::Kind::no_answer, "InternalError"},
      {InvocationFailure::Kind::stopped, "InternalError"}};
  for (const auto& [kind, code] : kinds) {
    place.s3->instead = [kind = kind](const auto&) {
      return std::optional<FakeS3::Answer>(Unexpected{InvocationFailure{kind, "a sentence"}});
    };
    CHECK(place.calls.get("a") == code);
    CHECK(place.calls.put("a", "x") == code);
    CHECK(place.calls.list("").error().message == "a sentence");
  }
}

TEST_CASE("any response that is not valid S3 is a failure") {
  S3Place place;
  const auto fails = [&](InvocationAnswer answer) {
    INFO(answer.body.substr(0, 200));
    place.answers(std::move(answer));
    CHECK(place.calls.list("").error().code == "InternalError");
  };
  for (const std::string body : {"", "no", "<a>", "<ListBucketResult>", "{}", "<Other/>", "\xff\xfe"})
    fails({.body = body});
  fails({.body = "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"});
  fails({.body = "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>"});
  fails({.body = "<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>"});
  fails({.body = "<ListBucketResult><Contents><Key>" + std::string(2000, 'a') +
                 "</Key></Contents></ListBucketResult>"});
  std::string many, deep;
  for (int i = 0; i < 1001; ++i) many += "<Contents><Key>a</Key><Size>1</Size></Contents>";
  fails({.body = "<ListBucketResult>" + many + "</ListBucketResult>"});
  for (int i = 0; i < 1'000'000; ++i) deep += "<a>";
  fails({.body = deep});
  fails({.body = "<ListBucketResult><Name>" + std::string(1'000'000, 'a') + "</Name></ListBucketResult>"});
  fails({.body = "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;\">]><ListBucketResult>&b;"
                 "</ListBucketResult>"});
  fails({.body = "<!DOCTYPE x SYSTEM \"file:///etc/passwd\"><ListBucketResult/>"});
  fails({.status = 500, .body = "<html>"});
  std::string elements, attributes;
  for (int i = 0; i < 100'000; ++i) {
    elements += "<a/>";
    attributes += " a" + std::to_string(i) + "=\"\"";
  }
  fails({.body = "<ListBucketResult>" + elements + "</ListBucketResult>"});
  fails({.body = "<ListBucketResult" + attributes + "/>"});

  place.s3->objects["a"] = "0123456789";
  for (const std::string range : {"", "bytes 1-9/10", "bytes 0-8/10", "bytes 0-9/9", "bytes 9-0/10",
                                  "bytes 0-9/11", "bytes */10", "bytes 0-9/99999999999999999999", "0-9/10"}) {
    INFO(range);
    place.answers({.status = 206, .body = "0123456789", .headers = {{"Content-Range", range}}});
    CHECK(place.calls.get("a") == "InternalError");
  }
  const std::string more(piece_bytes_max + 1, 'x');
  const std::string all = std::to_string(more.size());
  place.answers({.status = 206,
                 .body = more,
                 .headers = {{"Content-Range", "bytes 0-" + std::to_string(more.size() - 1) + "/" + all}}});
  CHECK(place.calls.get("a") == "InternalError");
  place.answers({.status = 200});
  CHECK(place.calls.head("a").error().code == "InternalError");
  CHECK(place.calls.put("a", std::string(part_bytes, 'x')) == "InternalError");  // no upload id was returned
}

TEST_CASE("a listing with the longest keys and all object attributes is read") {
  S3Place place;
  std::string objects;
  for (int i = 0; i < 1000; ++i) {
    objects += "<Contents><Key>" + std::string(1020, 'k') + std::to_string(1000 + i) + "</Key><Size>1</Size>";
    for (int other = 0; other < 20; ++other) objects += "<Owner>someone</Owner>";
    objects += "</Contents>";
  }
  place.answers({.body = "<ListBucketResult>" + objects + "</ListBucketResult>"});
  const auto listing = place.calls.list("");
  REQUIRE(listing);
  CHECK(listing->objects.size() == 1000);
}

TEST_CASE("an endpoint's error message is truncated and its control characters are replaced") {
  S3Place place;
  place.answers({.status = 400,
                 .body = "<Error><Code>A&#13;&#10;B</Code><Message>" + std::string(5000, 'x') +
                         "\xc2\x85</Message></Error>"});
  const auto failure = place.calls.list("").error();
  CHECK(failure.code == "A??B");
  CHECK(failure.message == std::string(1024, 'x'));
}

TEST_CASE("a malformed key is rejected before any request is sent") {
  S3Place place;
  for (const std::string key : {"", "..", "../other/a", "a/../../other/a", "a/.", "\xff"}) {
    CHECK(place.calls.put(key, "x") == "InvalidArgument");
    CHECK(place.calls.get(key) == "InvalidArgument");
    CHECK(!place.calls.head(key));
  }
  CHECK(place.calls.get(std::string(1025, 'a')) == "KeyTooLongError");
  CHECK(place.s3->requests.empty());
}

TEST_CASE(
    "configured bucket names refer to directories and all other names refer to buckets at the endpoint") {
  const TemporaryDirectory directory;
  const auto s3 = std::make_shared<FakeS3>();
  const auto alone = *Buckets::open({.directories = {{"here", directory.path()}}});
  CHECK(alone->find("here"));
  CHECK(alone->find("exports").error().code == "NoSuchBucket");
  const auto both = *Buckets::open({.directories = {{"here", directory.path()}},
                                    .endpoint = S3Endpoint{*Url::parse("http://s3"), "r", s3}});
  CHECK(BucketCalls{**both->find("here")}.put("a", "x") == "");
  CHECK(s3->requests.empty());
  CHECK(BucketCalls{**both->find("exports")}.put("a", "x") == "");
  CHECK(s3->objects["a"] == "x");
  for (const std::string name : {"", "a", "..", "a/b", "-a", "a.", "a b", "?a"})
    CHECK(both->find(name).error().code == "NoSuchBucket");
  CHECK(Buckets::open({.directories = {{"a/b", directory.path()}}}).error() ==
        "'a/b' is not a valid bucket name");
}

}  // namespace mayfly::testing
