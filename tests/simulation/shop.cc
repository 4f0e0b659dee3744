#include "tests/simulation/shop.h"

namespace mayfly::testing {

std::multiset<std::string> as_set(const std::vector<Json>& items) {
  std::multiset<std::string> set;
  for (const Json& item : items) set.insert(item.dump());
  return set;
}

std::string print(const std::multiset<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += "\n    " + item;
  return text;
}

std::multiset<std::string> shown(const ModelTable& table, engine::Instant now, const std::string& attribute,
                                 const Json& value) {
  std::multiset<std::string> set;
  for (const auto& [key, unused] : table.items) {
    const Json* const item = visible(table, key, now);
    if (item == nullptr) continue;
    if (!attribute.empty() && (!item->contains(attribute) || item->at(attribute) != value)) continue;
    set.insert(item->dump());
  }
  return set;
}

}  // namespace mayfly::testing
