// The clients' tables and items: keys, and attributes for indexes and TTL.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/simulation/model.h"

namespace mayfly::testing {

// The first two always exist, the third exists sometimes, and the others are restored tables.
inline constexpr std::array<std::string_view, 5> table_names = {"carts", "visits", "extra", "old-carts",
                                                                "old-visits"};

inline bool is_sorted_table(const std::string& name) { return name.find("visits") != std::string::npos; }

inline Json text(const std::string& value) { return {{"S", value}}; }
inline Json number(std::int64_t value) { return {{"N", std::to_string(value)}}; }

inline Json key_of(bool sorted, const Json& item) {
  Json key{{"id", item.at("id")}};
  if (sorted) key["at"] = item.at("at");
  return key;
}

inline Json by_user_index() {
  return {{"IndexName", "by_user"},
          {"KeySchema", {{{"AttributeName", "user"}, {"KeyType", "HASH"}}}},
          {"Projection", {{"ProjectionType", "ALL"}}}};
}

std::multiset<std::string> as_set(const std::vector<Json>& items);
std::string print(const std::multiset<std::string>& items);

// The items that a table shows at `now`: all of them or, if `attribute` is given, those in which `attribute`
// has `value`.
std::multiset<std::string> shown(const ModelTable& table, engine::Instant now,
                                 const std::string& attribute = {}, const Json& value = {});

}  // namespace mayfly::testing
