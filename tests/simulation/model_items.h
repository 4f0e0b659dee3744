// Compares items, tables and states of the model.
#pragma once

#include <algorithm>
#include <string>

#include "tests/simulation/model.h"

namespace mayfly::testing {

inline bool same_item(const Json* one, const Json* other) {
  return one == nullptr || other == nullptr ? one == other : *one == *other;
}

inline const Json* stored(const ModelTable& table, const std::string& key) {
  const auto found = table.items.find(key);
  return found == table.items.end() ? nullptr : found->second.get();
}

inline Json copy_of(const Json* item) { return item == nullptr ? Json() : *item; }

inline bool same_recovery(const ModelTable& one, const ModelTable& other) {
  return one.recovery.has_value() == other.recovery.has_value() &&
         (!one.recovery || one.recovery->days == other.recovery->days);
}

inline bool is_same_table(const ModelTable& one, const ModelTable& other) {
  return one.name == other.name && (one.id == other.id || one.id == 0 || other.id == 0);
}

inline bool same_settings(const ModelTable& one, const ModelTable& other) {
  return is_same_table(one, other) && same_recovery(one, other) && one.by_user == other.by_user &&
         one.by_n == other.by_n && (one.streamed == other.streamed || one.copying != other.copying) &&
         one.replica == other.replica && one.expires == other.expires && one.mode == other.mode;
}

inline bool same_items(const ModelTable& one, const ModelTable& other) {
  return std::equal(one.items.begin(), one.items.end(), other.items.begin(), other.items.end(),
                    [](const auto& item, const auto& same) {
                      return item.first == same.first && *item.second == *same.second;
                    });
}

inline bool same_backups(const ModelState& one, const ModelState& other) {
  return std::equal(one.backups.begin(), one.backups.end(), other.backups.begin(), other.backups.end(),
                    [](const auto& backup, const auto& same) { return backup.first == same.first; });
}

inline bool same(const ModelState& one, const ModelState& other) {
  return std::equal(one.tables.begin(), one.tables.end(), other.tables.begin(), other.tables.end(),
                    [](const auto& table, const auto& same) {
                      return table.first == same.first && same_settings(*table.second, *same.second) &&
                             same_items(*table.second, *same.second);
                    });
}

}  // namespace mayfly::testing
