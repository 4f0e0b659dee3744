// UpdateTable's rules that need no table: what may be asked for together, and index actions that make sense.
//
// AWS checks them before it looks for the table. One request changes one thing: encryption, table class,
// protection, replicas and warm throughput come alone; AttributeDefinitions, and members that are empty
// objects, do not count.
#pragma once

#include <string>
#include <vector>

#include "compat/wire/error.h"
#include "compat/wire/json.h"

namespace mayfly::compat {

// One of GlobalSecondaryIndexUpdates. After check_table_update exactly one of the three is there.
struct IndexAction {
  const json::Value* update = nullptr;
  const json::Value* create = nullptr;
  const json::Value* remove = nullptr;
  [[nodiscard]] std::string name() const;
};
std::vector<IndexAction> index_updates(const json::Value& request);

// One of VectorIndexUpdates, the same.
struct VectorAction {
  const json::Value* create = nullptr;
  const json::Value* remove = nullptr;
  [[nodiscard]] std::string name() const;
};
std::vector<VectorAction> vector_updates(const json::Value& request);

Result<void> check_table_update(const json::Value& request);

}  // namespace mayfly::compat
