// A table's description: the output of describe-table and of related calls. Exports store it, imports create
// tables from it, and `mayfly serve --schema` reads it too.
//
//   {"Table":{"TableName":"carts","KeySchema":[…],…,"Tags":[…]},
//    "TimeToLiveDescription":{"TimeToLiveStatus":"ENABLED","AttributeName":"expires"},
//    "ContinuousBackupsDescription":{…},"ContributorInsightsSummaries":[…]}
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/schemas/schema.h"
#include "compat/json/json_tree.h"
#include "engine/base/expected.h"

namespace mayfly::transfer {

struct DescribedTable {
  std::string name;
  json::Tree description{};  // null: only the table's name is known

  [[nodiscard]] bool is_described() const { return description.is_object(); }
  [[nodiscard]] std::vector<std::string> keys() const;
  [[nodiscard]] std::string ttl() const;          // the attribute; empty: TTL is off
  [[nodiscard]] std::int64_t item_count() const;  // from the description; 0 if the description has no count
  void rename(std::string to);
};

// The requests that create a table. `before` has the requests that must precede the table's items. `after`
// has the requests whose settings would otherwise affect the import of the items: stream, TTL, recovery and
// deletion protection.
struct Making {
  std::vector<schemas::SchemaRequest> before, after;
  std::vector<std::string> left_out;  // sentences about what is not created
};
Expected<Making, std::string> making_of(const DescribedTable& table, const std::string& region,
                                        bool with_ttl);

}  // namespace mayfly::transfer
