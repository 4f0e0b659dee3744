// Checks those attributes of an item that the table's indexes use.
//
//   CHECK_OK(check_indexed(table, item));
#pragma once

#include "compat/wire/error.h"
#include "engine/schema/table.h"
#include "engine/values/attribute_value.h"

namespace mayfly::compat {

// Rejects an item whose attributes do not fit an index: the keys of secondary indexes (check_index_keys in
// keys.h), then the vectors and the search schemas of vector indexes:
//   "… Invalid size for parameter v, Expected: 3, Actual: 2. IndexName: i"
//   "… Invalid type for parameter v[1], Expected: 32-bit floating point number, Actual: S. IndexName: i"
//   "… Attribute 'tenant' type mismatch. Expected: S, Actual: N. IndexName: i"
// Missing attributes pass, because indexes are sparse. `updated`: use UpdateItem's wording for empty values.
Result<void> check_indexed(const engine::Table& table, const engine::Item& item, bool updated = false);

}  // namespace mayfly::compat
