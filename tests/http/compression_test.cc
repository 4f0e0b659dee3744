#include "http/requests/compression.h"

#include <catch2/catch.hpp>

namespace mayfly::testing {

using namespace http;

namespace {

constexpr std::size_t plenty = 1 << 20;

std::string inflated(std::string_view bytes, Encoding encoding) {
  std::string out;
  REQUIRE(!decompress(bytes, encoding, plenty, out));
  return out;
}

std::optional<DecompressFailure> failure_of(std::string_view bytes, Encoding encoding,
                                            std::size_t bytes_max = plenty) {
  std::string out;
  return decompress(bytes, encoding, bytes_max, out);
}

}  // namespace

TEST_CASE("Accept-Encoding is parsed as DynamoDB parses it including its quirks") {
  // The authors of ScyllaDB's Alternator observed each of these results on AWS.
  struct Line {
    std::string_view header;
    Encoding chosen;
  };
  const Line lines[] = {
      {"", Encoding::identity},
      {"identity", Encoding::identity},
      {"br", Encoding::identity},
      {"x-gzip", Encoding::identity},
      {"gzip, deflate", Encoding::gzip},
      {"br, identity, deflate, gzip", Encoding::deflate},
      {"GZIP, identity", Encoding::gzip},
      {"dog, gzip ,, cat", Encoding::gzip},
      {"gzip;q=0.8, deflate;q=0.5", Encoding::gzip},
      {"br, gzip;q=0, deflate; q = 0.5 , identity;q=0", Encoding::deflate},
      {"*", Encoding::gzip},
      {"*, deflate;q=0.5", Encoding::gzip},
      {"*, deflate", Encoding::deflate},
      {"*, gzip;q=0.5", Encoding::deflate},
      {"gzip ;q=0", Encoding::identity},
      {"*;q=0", Encoding::identity},
      {"*;q=0.5,identity", Encoding::gzip},
      {"gzip;q=0.5,identity;q=0.8", Encoding::gzip},
      {"br;q=0.8,identity;q=0.5,*;q=0", Encoding::identity},
      {"\"gzip\"", Encoding::identity},
      {"gzip br", Encoding::identity},
      {"gzip:q=1", Encoding::identity},
      {"deflate;q=0.5, gzip;q=31", Encoding::gzip},
      {"gzip;q=31,deflate;q=51", Encoding::gzip},
      {"deflate;q=0.5, gzip;q=0.2", Encoding::deflate},
      {"deflate;q=0.5, gzip;q=1;q=0.2", Encoding::gzip},
      {"deflate;q=0.5,gzip;q=0.", Encoding::deflate},
      {"deflate;q=0.5,gzip;q=0.x", Encoding::gzip},
      {"deflate;q=0.5,gzip;q=0. x", Encoding::gzip},
      {"deflate;q=-0.5,gzip;q=0.2", Encoding::gzip},
      {"gzip;q= 0;q=1", Encoding::identity},
      {"gzip;q =0;q=1", Encoding::gzip},
      {"gzip; q=0;q=1", Encoding::identity},
      {"gzip;nq=0;q=1", Encoding::identity},
      {"gzip;q=0, gzip;q=1, gzip;q=0", Encoding::gzip},
      {"br,identity;q=0.5,gzip;q=0.0001", Encoding::gzip},
  };
  for (const Line& line : lines) {
    INFO(line.header);
    CHECK(name_of(choose_encoding(line.header)) == name_of(line.chosen));
  }
}

TEST_CASE("compressed data decompresses to the original") {
  std::string text;
  for (unsigned i = 0; i < 50'000; ++i) text += static_cast<char>('a' + i * i % 23);
  for (const Encoding encoding : {Encoding::gzip, Encoding::deflate}) {
    const std::string small = compress(text, encoding);
    CHECK(small.size() < text.size());
    CHECK(inflated(small, encoding) == text);
    CHECK(inflated(compress("", encoding), encoding) == "");
  }
}

TEST_CASE("gzip data can have several members and deflate data can have only one") {
  CHECK(inflated(compress("one,", Encoding::gzip) + compress("two", Encoding::gzip), Encoding::gzip) ==
        "one,two");
  CHECK(failure_of(compress("one,", Encoding::deflate) + compress("two", Encoding::deflate),
                   Encoding::deflate) == DecompressFailure::malformed);
}

TEST_CASE("empty or truncated or uncompressed input is rejected as malformed") {
  for (const Encoding encoding : {Encoding::gzip, Encoding::deflate}) {
    const std::string good = compress(R"({"TableName":"t"})", encoding);
    CHECK(failure_of("", encoding) == DecompressFailure::malformed);
    CHECK(failure_of(R"({"TableName":"t"})", encoding) == DecompressFailure::malformed);
    CHECK(failure_of(good + "junk", encoding) == DecompressFailure::malformed);
    for (std::size_t length = 0; length < good.size(); ++length) {
      CHECK(failure_of(good.substr(0, length), encoding) == DecompressFailure::malformed);
    }
  }
  CHECK(failure_of(compress("x", Encoding::deflate), Encoding::gzip) == DecompressFailure::malformed);
}

TEST_CASE("a small body that decompresses to a large one is rejected at the limit") {
  const std::string bomb = compress(std::string(plenty + 1, ' '), Encoding::gzip);
  CHECK(bomb.size() < plenty / 100);
  CHECK(failure_of(bomb, Encoding::gzip) == DecompressFailure::too_large);
  CHECK(failure_of(compress(std::string(plenty, ' '), Encoding::gzip), Encoding::gzip) == std::nullopt);
}

}  // namespace mayfly::testing
