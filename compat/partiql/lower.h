// What a statement means for its table: which of its conditions are the key, and what is left of them. From here
// on PartiQL is a read_page or an ItemWrite like any other.
//
//   SELECT … WHERE artist = 'Nina' AND year > 1960 AND label = 'RCA'
//     a Query, if the key is (artist, year): its range, and the filter label = 'RCA'
//   SELECT … WHERE label = 'RCA'
//     a Scan with a filter
#pragma once

#include "compat/dispatch.h"
#include "compat/error.h"
#include "compat/page.h"
#include "compat/partiql/statement.h"
#include "compat/write_item.h"

namespace mayfly::compat::partiql {

struct Read {
  PageRequest page;
  bool one_item = false;  // the table's whole key is given: there is nothing to go on with
};

// "The table does not have the specified index: …", "Must have WHERE clause in the statement when using ORDER BY
// clause.", and what Query says of keys that do not fit.
Result<Read> lower_read(const Context& context, Select select, bool consistent);

// "Where clause does not contain a mandatory equality on all key attributes", and what PutItem, UpdateItem and
// DeleteItem say of keys and items. Not of a Select.
Result<ItemWrite> lower_write(const Context& context, Statement statement);

// What RETURNING asks for.
ReturnValues return_values(const Statement& statement);


// compat's perform. An INSERT that finds its item there is a DuplicateItemException.
Result<WriteOutcome> perform_statement(ItemWrite write, const WantedAnswer& wanted, Context& context);

}  // namespace mayfly::compat::partiql
