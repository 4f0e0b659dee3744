#include "engine/time/expiry_index.h"

#include <catch2/catch.hpp>

#include "tests/support/engine_world.h"

namespace mayfly::testing {

using namespace engine;

namespace {

std::optional<Instant> due(AttributeValue ttl) {
  Table table = simple_table("carts");
  table.ttl = TimeToLive{"ttl"};
  return due_of(table, Item{{"id", "a"}, {"ttl", std::move(ttl)}});
}

}  // namespace

TEST_CASE("an item is due from the first millisecond strictly after its TTL", "[expiry_index]") {
  CHECK(due(number("1714521600")) == 1'714'521'600'001);
  CHECK(due(number("1714521600.5")) == 1'714'521'600'501);
  CHECK(due(number("1714521600.0009")) == 1'714'521'600'001);
  CHECK(due(number("1714521600.001")) == 1'714'521'600'002);
  CHECK(due(number("16e8")) == 1'600'000'000'001);
  CHECK(due(number("1600000000.00000000000000000000000001")) == 1'600'000'000'001);
  CHECK(due(number("0")) == 1);
}

TEST_CASE("a TTL that is not a number or is negative or too large is never due", "[expiry_index]") {
  CHECK_FALSE(due("1714521600"));
  CHECK_FALSE(due(Binary{"1"}));
  CHECK_FALSE(due(AttributeValue(true)));
  CHECK_FALSE(due(List{number(1)}));
  CHECK_FALSE(due(number("-1")));
  CHECK_FALSE(due(number("-0.0001")));
  CHECK_FALSE(due(number("9e125")));
  CHECK_FALSE(due(number("9223372036854775.807")));  // the due time would overflow
  CHECK_FALSE(due_of(simple_table("no ttl"), Item{{"ttl", number(1)}}));
  Table table = simple_table("carts");
  table.ttl = TimeToLive{"a.b"};  // a name, not a path
  CHECK_FALSE(due_of(table, Item{{"a", Map{{"b", number(1)}}}}));
  CHECK(due_of(table, Item{{"a.b", number(1)}}));
}

TEST_CASE("an item whose TTL passed more than five years ago never expires", "[expiry_index]") {
  const Instant now = start_ms;
  const Instant five_years = 157'784'760'000;
  CHECK(is_expired(now, now));
  CHECK_FALSE(is_expired(now + 1, now));
  // The TTL is exactly five years before now, and the due time is one millisecond after the TTL.
  CHECK(is_expired(now - five_years + 1, now));
  CHECK_FALSE(is_expired(now - five_years, now));
  CHECK(is_too_old(now - five_years, now));
}

TEST_CASE("expiry entries sort by due time and then by key and contain their window", "[expiry_index]") {
  const ExpiryIndex index(60'000);
  CHECK(index.window_of(1'714'521'600'001) == 1'714'521'600'000);
  CHECK(index.window_of(1'714'521'660'000) == 1'714'521'660'000);
  const std::string entry = index.entry_key(3, 1'714'521'600'001, "key");
  CHECK(ExpiryIndex::due_in(entry) == 1'714'521'600'001);
  CHECK(ExpiryIndex::item_key_in(entry) == "key");
  CHECK(entry < index.entry_key(3, 1'714'521'600'001, "kez"));
  CHECK(index.entry_key(3, 1'714'521'600'001, "z") < index.entry_key(3, 1'714'521'600'002, "a"));
  CHECK(index.entry_key(3, 1'714'521'659'999, "z") < index.entry_key(3, 1'714'521'660'000, "a"));
  CHECK(index.position(3, 1'714'521'600'001) < entry);
  CHECK(index.entry_key(3, 1'714'521'600'000, "\xff\xff") < index.position(3, 1'714'521'600'001));
}

}  // namespace mayfly::testing
