#include "cli/table_files/source.h"

#include <algorithm>

#include "cli/anonymize/rules.h"

namespace mayfly::transfer {

bool Selection::has(const std::string& table) const {
  return all_ || std::any_of(patterns_.begin(), patterns_.end(),
                             [&](const std::string& pattern) { return matches(pattern, table); });
}

std::string Selection::unmet(const std::vector<DescribedTable>& tables, const std::string& where) const {
  for (const std::string& pattern : patterns_) {
    if (std::none_of(tables.begin(), tables.end(),
                     [&](const DescribedTable& table) { return matches(pattern, table.name); }))
      return "there is no table " + pattern + " in " + where;
  }
  return tables.empty() ? "there are no tables in " + where : std::string();
}

}  // namespace mayfly::transfer
