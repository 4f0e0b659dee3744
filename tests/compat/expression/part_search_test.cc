#include "compat/expression/part_search.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

namespace mayfly::testing {

using mayfly::compat::expression::has_part;

namespace {

// A symbol that counts comparisons.
struct Counted {
  char symbol;
  static inline std::size_t comparisons = 0;
  friend bool operator==(Counted a, Counted b) {
    ++comparisons;
    return a.symbol == b.symbol;
  }
};

std::vector<Counted> counted(const std::string& text) {
  std::vector<Counted> symbols;
  for (const char c : text) symbols.push_back({c});
  return symbols;
}

}  // namespace

TEST_CASE("has_part finds the same parts as std::string::find") {
  std::mt19937 random(20260719);
  for (int round = 0; round < 20'000; ++round) {
    const auto text = [&](std::size_t length_max) {
      std::string symbols(random() % (length_max + 1), ' ');
      for (char& symbol : symbols) symbol = "ab"[random() % 2];
      return symbols;
    };
    const std::string whole = text(24), part = text(6);
    INFO(whole << " and " << part);
    REQUIRE(has_part(whole, part) == (whole.find(part) != std::string::npos));
  }
  CHECK(has_part(std::string("a\0b", 3), std::string("\0b", 2)));
}

TEST_CASE("a search takes linear time even in text with many near matches") {
  const auto cost = [](std::size_t length, const std::string& unit) {
    std::string whole, part;
    while (whole.size() < length) whole += unit;
    while (part.size() < length / 2) part += unit;
    part += 'x';
    Counted::comparisons = 0;
    CHECK_FALSE(has_part(counted(whole), counted(part)));
    return Counted::comparisons;
  };
  for (const char* unit : {"a", "ab", "aab", "aaaaaaaaaab"}) {
    INFO(unit);
    const std::size_t once = cost(20'000, unit), twice = cost(40'000, unit);
    CHECK(once < 4 * 20'000);
    CHECK(twice < once * 9 / 4);
  }
}

}  // namespace mayfly::testing
