// Tests a directory as a bucket: which paths a key can reach, and what remains after a failure.
#include "compat/buckets/directory_bucket.h"

#include <catch2/catch.hpp>

#include "tests/compat/buckets/bucket_place.h"

namespace mayfly::testing {

namespace {

using namespace compat::buckets;
namespace fs = std::filesystem;
using Place = BucketPlace;
using Keys = std::vector<std::string>;

}  // namespace

TEST_CASE("objects put into a directory bucket can be read and listed") {
  const Place place;
  const auto stored = place.calls.store("2024/05/a.json", "{}", 1);
  REQUIRE(stored);
  CHECK(stored->bytes == 2);
  CHECK(stored->etag == "99914b932bd37a50b983c5e7c90ae93b");  // md5sum
  CHECK(place.calls.get("2024/05/a.json") == "{}");
  CHECK(place.calls.head("2024/05/a.json")->bytes == 2);
  CHECK(place.calls.put("empty", "") == "");
  CHECK(place.calls.get("empty").empty());
  CHECK(place.calls.put("2024/05/a.json", "another") == "");
  CHECK(place.calls.get("2024/05/a.json") == "another");
  CHECK(place.calls.keys("") == Keys{"2024/05/a.json", "empty"});
  CHECK(place.calls.get("2024/05/b.json") == "NoSuchKey");
  CHECK(place.calls.get("2024/05") == "NoSuchKey");
  CHECK(place.calls.get("empty/more") == "NoSuchKey");
}

TEST_CASE("a key that points outside the bucket's directory or is malformed is rejected") {
  const Place place;
  const std::string long_part(256, 'a'), long_key(1025, 'a');
  std::string deep;
  for (int i = 0; i < 65; ++i) deep += "a/";
  for (const std::string key :
       {"../secret", "..", ".", "a/../../secret", "a/./b", "./a", "a/..", "/secret", "/etc/passwd", "a//b",
        "a/", "/", "", ".mayfly-upload-1", "a/.mayfly-upload-1/b", "\xff", "a/\xc0\xae\xc0\xae/b"})
    place.refuses(key, "InvalidArgument");
  place.refuses(std::string("a\0b", 3), "InvalidArgument");
  place.refuses(long_part, "KeyTooLongError");
  place.refuses(long_key, "KeyTooLongError");
  place.refuses(deep + "a", "KeyTooLongError");
  // Keys that only look like malformed keys are valid.
  for (const std::string key : {"...", "..a", "a..b/c", "\\..\\secret", "~", "-rf", "C:", "a\nb", "%2e%2e"})
    CHECK(place.calls.put(key, key) == "");
  CHECK(place.calls.get("a\nb") == "a\nb");
}

TEST_CASE("an upload becomes visible only when it is finished and leaves nothing if it is abandoned") {
  const Place place;
  CHECK(place.calls.put("a", "before") == "");
  {
    const auto upload = place.bucket->upload("a");
    CHECK(wait<void>([&](auto done) { upload->append("half", {}, done); }));
    CHECK(place.calls.get("a") == "before");
    CHECK(place.calls.keys("") == Keys{"a"});
    CHECK(place.files().size() == 3);  // the third file is the unfinished upload
  }
  CHECK(place.files() == Keys{"bucket/a", "secret"});
  CHECK(place.calls.get("a") == "before");
}

TEST_CASE("a read never mixes two versions of an object") {
  const Place place;
  CHECK(place.calls.put("a", std::string(piece_bytes_max + 1, 'a')) == "");
  const auto first = wait<Piece>([&](auto done) { place.bucket->read("a", 0, "", {}, done); });
  REQUIRE(first);
  CHECK(first->bytes.size() == piece_bytes_max);
  CHECK(first->object_bytes == piece_bytes_max + 1);
  CHECK(place.calls.put("a", std::string(piece_bytes_max + 1, 'b')) == "");
  const auto second =
      wait<Piece>([&](auto done) { place.bucket->read("a", piece_bytes_max, first->version, {}, done); });
  REQUIRE(!second);
  CHECK(second.error().code == "PreconditionFailed");
  CHECK(place.calls.load("a")->size() == piece_bytes_max + 1);
}

TEST_CASE("keys are listed in byte order and in pages even if the prefix ends inside a path part") {
  const Place place;
  const Keys sorted = {"a",  "b-c",        "b.c",    "b/a",    "b/a.d/e", "b/a/x",
                       "b0", "data.bak/1", "data/1", "data/2", "data2/1"};
  for (const std::string& key : sorted)
    if (key != "b/a/x") CHECK(place.calls.put(key, "x") == "");
  Keys there = sorted;
  std::erase(there, "b/a/x");  // "b/a" is already an object, so "b/a/x" was not put
  CHECK(place.calls.keys("") == there);
  CHECK(place.calls.keys("data") == Keys{"data.bak/1", "data/1", "data/2", "data2/1"});
  CHECK(place.calls.keys("data/") == Keys{"data/1", "data/2"});
  CHECK(place.calls.keys("b/a.d/e") == Keys{"b/a.d/e"});
  CHECK(place.calls.keys("..").empty());
  CHECK(place.calls.keys("/").empty());
  for (std::size_t i = 0; i < there.size(); ++i) {
    const auto rest = place.calls.list("", there[i]);
    REQUIRE(rest);
    REQUIRE(rest->objects.size() == there.size() - i - 1);
    if (!rest->objects.empty()) CHECK(rest->objects.front().key == there[i + 1]);
  }
}

TEST_CASE("a listing page has 1000 objects and the next page continues after them") {
  const Place place;
  Keys expected;
  for (int i = 0; i < 2001; ++i) {
    expected.push_back("n/" + std::to_string(10'000 + i));
    std::ofstream(place.path + "/" + std::to_string(10'000 + i));
  }
  fs::create_directory(place.path + "/n");
  for (const std::string& key : expected)
    fs::rename(place.path + "/" + key.substr(2), place.path + "/" + key);
  const auto first = place.calls.list("n/");
  REQUIRE(first);
  CHECK(first->objects.size() == 1000);
  CHECK(first->next_token == "n/10999");
  CHECK(place.calls.keys("n/") == expected);
}

TEST_CASE("opening a bucket fails if its directory does not exist") {
  CHECK(DirectoryBucket::open("/no/such/directory").error() ==
        "cannot open the bucket directory /no/such/directory: No such file or directory");
}

}  // namespace mayfly::testing
