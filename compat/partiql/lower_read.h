// Lowers a SELECT to reads of its table: key look-ups, Queries or a Scan. The result is executed as one
// read_page, or as several in sequence.
//
//   SELECT … WHERE artist = 'Nina' AND year > 1960 AND label = 'RCA'
//     a Query, if the key is (artist, year), with a filter
//   SELECT … WHERE artist IN ['Nina', 'Miles']
//     two Queries, in this order
//   SELECT … WHERE label = 'RCA'
//     a Scan with a filter
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/context.h"
#include "compat/items/page.h"
#include "compat/items/transact_items.h"
#include "compat/partiql/key_reads.h"
#include "compat/partiql/statement.h"
#include "compat/wire/error.h"

namespace mayfly::compat::partiql {

struct Read {
  PageRequest page;                      // the request for each range
  std::vector<engine::KeyRange> ranges;  // in reading order; they do not overlap
  bool whole_keys = false;  // the ranges are full keys of the table, so each has at most one item
};

// Rejects a read of a table or an index whose key has several partition or sort attributes. Then rejects a
// projection that has an error.
Result<void> check_readable(const engine::Table& table, const Select& select);

// Errors: "The table does not have the specified index", "Overlapping conditions with range keys are not
// supported in where clause", "Key attribute's data type should match its data type in table's schema: Key
// …", violations of ORDER BY's rules.
Result<Read> lower_read(const Context& context, Select select, bool consistent);

// Lowers a SELECT that reads one item by exactly its full key, as batches and transactions require. Any other
// SELECT is rejected with the message `refusal`. Does not encode the key or check its types.
Result<ItemRead> lower_item_read(std::shared_ptr<engine::LiveTable> table, Select select,
                                 std::string_view refusal);

}  // namespace mayfly::compat::partiql
