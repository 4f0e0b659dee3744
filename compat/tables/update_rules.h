// UpdateTable's rules that do not depend on the table: which changes can be combined, and which index actions
// are valid.
//
// AWS checks these rules before it looks for the table. A request makes one kind of change: encryption, table
// class, deletion protection, replicas and warm throughput cannot be combined with others.
// AttributeDefinitions and members that are empty objects do not count as changes.
#pragma once

#include <string>
#include <vector>

#include "compat/json/json.h"
#include "compat/wire/error.h"

namespace mayfly::compat {

// An element of GlobalSecondaryIndexUpdates. After check_table_update exactly one of the three is set.
struct IndexAction {
  const json::Value* update = nullptr;
  const json::Value* create = nullptr;
  const json::Value* remove = nullptr;
  [[nodiscard]] std::string name() const;
};
std::vector<IndexAction> index_updates(const json::Value& request);

// An element of VectorIndexUpdates. Exactly one of the two is set, as above.
struct VectorAction {
  const json::Value* create = nullptr;
  const json::Value* remove = nullptr;
  [[nodiscard]] std::string name() const;
};
std::vector<VectorAction> vector_updates(const json::Value& request);

Result<void> check_table_update(const json::Value& request);

}  // namespace mayfly::compat
