// What a SELECT means for its table: key look-ups, Queries or a Scan. From here on it is a read_page like any
// other, or several, one after the other.
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
  PageRequest page;                      // of each range
  std::vector<engine::KeyRange> ranges;  // in the order in which they are read; they do not overlap
  bool whole_keys = false;               // of the table: each range holds one item at most
};

// Refuses a read of a table or an index whose key has several partition or sort attributes, and after that a
// projection that has an error.
Result<void> check_readable(const engine::Table& table, const Select& select);

// "The table does not have the specified index", "Overlapping conditions with range keys are not supported in
// where clause", "Key attribute's data type should match its data type in table's schema: Key …", ORDER BY's
// rules.
Result<Read> lower_read(const Context& context, Select select, bool consistent);

// A SELECT of one item, by its whole key and nothing else, as batches and transactions read. Any other is
// refused with `refusal`. The key is not encoded yet, and its types are not checked.
Result<ItemRead> lower_item_read(std::shared_ptr<engine::LiveTable> table, Select select,
                                 std::string_view refusal);

}  // namespace mayfly::compat::partiql
