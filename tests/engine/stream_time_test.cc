#include "engine/time/stream_time.h"

#include <catch2/catch.hpp>

namespace mayfly::testing {

using namespace engine;

TEST_CASE("stream time stands still during a jump and continues after it", "[stream_time]") {
  StreamTime time;
  time.jump(1000, 5000);
  time.jump(5000, 6000);  // on a frozen clock, this jump continues the first one
  time.jump(7000, 7500);
  CHECK(time.of(900) == 900);
  CHECK(time.of(3000) == 1000);
  CHECK(time.of(6000) == 1000);
  CHECK(time.of(7000) == 2000);
  CHECK(time.of(7400) == 2000);
  CHECK(time.of(8000) == 2500);
}

TEST_CASE("a stream time is mapped to the first instant with that stream time", "[stream_time]") {
  StreamTime time;
  time.jump(1000, 5000);
  time.jump(7000, 7500);
  for (const Instant stream_time : {900, 1000, 1001, 2999, 3000, 3001, 9000}) {
    const Instant instant = time.instant_of(stream_time);
    CHECK(time.of(instant) == stream_time);
    CHECK(time.of(instant - 1) < stream_time);
  }
  CHECK(time.instant_of(1000) == 1000);
  CHECK(time.instant_of(1001) == 5001);
}

TEST_CASE("old jumps can be merged into one and encoded as bytes", "[stream_time]") {
  StreamTime time;
  for (Instant i = 0; i < 1000; ++i) time.jump(i * 100, i * 100 + 50);
  StreamTime shorter = time;
  shorter.forget_before(90'000);
  std::string all, fewer;
  time.append_to(all);
  shorter.append_to(fewer);
  CHECK(fewer.size() < all.size() / 9);
  const StreamTime again = StreamTime::from_bytes(fewer);
  for (const Instant instant : {90'010, 95'075, 200'000}) {
    CHECK(shorter.of(instant) == time.of(instant));
    CHECK(again.of(instant) == time.of(instant));
  }
}

}  // namespace mayfly::testing
