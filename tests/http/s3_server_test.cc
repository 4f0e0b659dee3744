// Tests buckets on a real S3 server. tests/sdk/s3_server_test.py starts the server and runs these tests. The
// tests are hidden, so no other run includes them.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "compat/buckets/buckets.h"
#include "http/outbound/invoker.h"
#include "tests/support/bucket_calls.h"

namespace mayfly::testing {

namespace {

using namespace compat::buckets;

// Reads a variable of the test's environment; "" if it is not set.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::unique_ptr<Buckets> buckets_of(std::optional<http::Key> key) {
  return *Buckets::open(
      {.endpoint = S3Endpoint{*compat::outbound::Url::parse(variable("MAYFLY_TEST_S3_ENDPOINT")), "us-east-1",
                              std::make_shared<http::HttpInvoker>(std::move(key))}});
}

}  // namespace

TEST_CASE("objects can be written to and read from a real S3 server's bucket", "[.][s3_server]") {
  const auto buckets = buckets_of(http::key_of_environment());
  const auto bucket = *buckets->find("exports");
  const BucketCalls calls{*bucket};
  const std::vector<std::string> keys = {"2024/a b+c=d.json", "2024/ä/é😀", "2024/x//y",
                                         "2024/~'()*!$&,;:@?#%41"};
  for (const std::string& key : keys) {
    INFO(key);
    CHECK(calls.put(key, key + "!") == "");
    CHECK(calls.get(key) == key + "!");
    CHECK(calls.head(key)->bytes == key.size() + 1);
  }
  auto sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  CHECK(calls.keys("2024/") == sorted);
  CHECK(calls.put("empty", "") == "");
  CHECK(calls.get("empty").empty());
  CHECK(calls.get("nothing") == "NoSuchKey");
  CHECK(calls.head("nothing").error().code == "NoSuchKey");

  std::string large(part_bytes * 2 + 12'345, '.');
  for (std::size_t i = 0; i < large.size(); i += 1000) large[i] = static_cast<char>('a' + i % 26);
  const auto stored = calls.store("large", large, 3'000'000);
  REQUIRE(stored);
  CHECK(stored->etag.ends_with("-2"));
  CHECK((calls.get("large") == large));

  for (int i = 0; i < 1005; ++i) CHECK(calls.put("many/" + std::to_string(10'000 + i), "") == "");
  const auto first = calls.list("many/");
  REQUIRE(first);
  CHECK(first->objects.size() == 1000);
  CHECK(first->next_token);
  CHECK(calls.keys("many/").size() == 1005);

  const auto other = *buckets->find("no-such-bucket");
  CHECK(BucketCalls{*other}.put("a", "x") == "NoSuchBucket");
  CHECK(BucketCalls{*other}.keys("") == std::vector<std::string>{"NoSuchBucket"});
}

TEST_CASE("a real S3 server rejects a request signed with the wrong secret", "[.][s3_server]") {
  auto key = http::key_of_environment();
  REQUIRE(key);
  key->secret += "x";
  const auto buckets = buckets_of(key);
  const auto bucket = *buckets->find("exports");
  CHECK(BucketCalls{*bucket}.put("forged", "x") == "SignatureDoesNotMatch");
  CHECK(BucketCalls{*bucket}.keys("") == std::vector<std::string>{"SignatureDoesNotMatch"});
}

}  // namespace mayfly::testing
