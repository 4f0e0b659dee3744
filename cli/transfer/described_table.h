// A table as describe-table prints it, with what stands beside it there: what an export keeps of a table, and
// what an import makes one of. `mayfly serve --schema` reads the same.
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
#include "compat/wire/json_tree.h"
#include "engine/expected.h"

namespace mayfly::transfer {

struct DescribedTable {
  std::string name;
  json::Tree description{};  // null: nothing is known of the table but its name

  [[nodiscard]] bool is_described() const { return description.is_object(); }
  [[nodiscard]] std::vector<std::string> keys() const;
  [[nodiscard]] std::string ttl() const;          // the attribute, where TTL is on; empty: it is not
  [[nodiscard]] std::int64_t item_count() const;  // as the description has it; 0 where it has none
  void rename(std::string to);
};

// How a table is made: first what its items need to be there, then, with them in, what would have acted on
// their coming: its stream, TTL, recovery, deletion protection.
struct Making {
  std::vector<schemas::SchemaRequest> before, after;
  std::vector<std::string> left_out;  // sentences
};
Expected<Making, std::string> making_of(const DescribedTable& table, const std::string& region,
                                        bool with_ttl);

}  // namespace mayfly::transfer
