#include "engine/values/attribute_value.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

namespace mayfly::testing {

using namespace engine;

namespace {

StringSet strings(std::vector<std::string> members) {
  StringSet set;
  REQUIRE(StringSet::make(std::move(members), set));
  return set;
}

std::string names(const Map& map) {
  std::string out;
  for (const Attribute& attribute : map) out += attribute.name + " ";
  return out;
}

}  // namespace

TEST_CASE("a set keeps its members sorted and reports duplicates") {
  StringSet set;
  CHECK_FALSE(StringSet::make({"b", "a", "b"}, set));
  CHECK(set.members() == std::vector<std::string>{"a", "b"});
  CHECK(set == strings({"a", "b"}));
  CHECK_FALSE(set == strings({"a", "c"}));
  CHECK_FALSE(set == strings({"a"}));

  NumberSet numbers;
  CHECK(NumberSet::make({Number(10), Number(9), Number(-1)}, numbers));
  CHECK(numbers.members() == std::vector<Number>{Number(-1), Number(9), Number(10)});

  BinarySet binaries;
  CHECK(BinarySet::make({{"\xff"}, {"\x01"}}, binaries));
  CHECK(binaries.members() == std::vector<Binary>{{"\x01"}, {"\xff"}});
  CHECK(binaries.contains({"\xff"}));
  CHECK_FALSE(binaries.contains({"\xfe"}));
}

TEST_CASE("a set that was stored unsorted equals the sorted set and is sorted by the next change") {
  StringSet stored = StringSet::of_distinct({"c", "a", "b"});
  CHECK(stored == strings({"a", "b", "c"}));
  CHECK(stored.members() == std::vector<std::string>{"c", "a", "b"});
  stored.erase_all(strings({"b"}));
  CHECK(stored.members() == std::vector<std::string>{"a", "c"});
}

TEST_CASE("the union and the difference of sets are sorted") {
  StringSet set = strings({"a", "c"});
  set.insert_all(strings({"b", "c"}));
  CHECK(set.members() == std::vector<std::string>{"a", "b", "c"});
  set.erase_all(strings({"a", "x"}));
  CHECK(set.members() == std::vector<std::string>{"b", "c"});
}

TEST_CASE("a map is sorted by the bytes of its names and equality ignores the order of insertion") {
  Map map;
  map.set("b", Number(1));
  map.set("\xc3\xa9", Number(2));
  map.set("a", Number(3));
  map.set("b", Number(4));
  CHECK(names(map) == "a b \xc3\xa9 ");
  CHECK(map == Map{{"\xc3\xa9", Number(2)}, {"a", Number(3)}, {"b", Number(4)}});
  CHECK(map ==
        Map::from_unsorted({{"b", Number(1)}, {"a", Number(3)}, {"\xc3\xa9", Number(2)}, {"b", Number(4)}}));
  CHECK(*map.find("b") == AttributeValue(Number(4)));
  CHECK(map.find("c") == nullptr);
  CHECK(map.find("") == nullptr);
  CHECK(map.erase("b"));
  CHECK_FALSE(map.erase("b"));
  CHECK(names(map) == "a \xc3\xa9 ");
}

TEST_CASE("changing many members of a map at once has the same result as changing them one by one") {
  std::mt19937 random(20260719);
  for (int round = 0; round < 300; ++round) {
    std::map<std::string, AttributeValue> set;
    std::set<std::string> erased;
    Map one_by_one;
    const auto name = [&] { return std::string(1, static_cast<char>('a' + random() % 12)); };
    for (int i = 0; i < 6; ++i) one_by_one.set(name(), "old");
    for (int i = 0; i < 4; ++i) set[name()] = "new " + std::to_string(i);
    for (int i = 0; i < 4; ++i) erased.insert(name());
    for (const auto& [added, value] : set) erased.erase(added);
    Map at_once = one_by_one;
    std::vector<Attribute> sorted;
    for (const auto& [added, value] : set) {
      one_by_one.set(added, value);
      sorted.push_back({added, value});
    }
    for (const std::string& gone : erased) one_by_one.erase(gone);
    at_once.change(std::move(sorted), {erased.begin(), erased.end()});
    REQUIRE(at_once == one_by_one);
  }
  Map twice;
  twice.change({{"a", "first"}, {"a", "last"}}, {});
  CHECK(twice == Map{{"a", "last"}});
}

TEST_CASE("values of different types are never equal and only scalars of the same type are ordered") {
  CHECK(AttributeValue("1") != AttributeValue(Number(1)));
  CHECK(AttributeValue("a") != AttributeValue(Binary{"a"}));
  CHECK(compare_scalars("a", "b") == std::partial_ordering::less);
  CHECK(compare_scalars("\x7f", "\x80") == std::partial_ordering::less);
  CHECK(compare_scalars(Number(10), Number(9)) == std::partial_ordering::greater);
  CHECK(compare_scalars(Binary{"a"}, Binary{"a"}) == std::partial_ordering::equivalent);
  CHECK(compare_scalars("a", Binary{"a"}) == std::partial_ordering::unordered);
  CHECK(compare_scalars(AttributeValue(true), AttributeValue(true)) == std::partial_ordering::unordered);
  CHECK(compare_scalars(List{}, List{}) == std::partial_ordering::unordered);
}

TEST_CASE("types have the names that the JSON format uses") {
  const AttributeValue values[] = {"",     Number(),    Binary{},    AttributeValue(true),
                                   Null{}, StringSet{}, NumberSet{}, BinarySet{},
                                   List{}, Map{}};
  std::string out;
  for (const AttributeValue& value : values) out += std::string(type_name(value.type())) + " ";
  CHECK(out == "S N B BOOL NULL SS NS BS L M ");
  for (const AttributeValue& value : values) CHECK(type_named(type_name(value.type())) == value.type());
  using namespace std::string_view_literals;
  for (const auto name : {""sv, "s"sv, "\0S"sv, "S\0"sv, "\0\0SS"sv, "SSS"sv, "NULLS"sv, "\0NULL"sv})
    CHECK(type_named(name) == std::nullopt);
}

}  // namespace mayfly::testing
