// Lowers an INSERT, UPDATE, DELETE or EXISTS to an ItemWrite, the form that all writing operations use.
//
//   UPDATE music SET plays = 1 WHERE artist = 'Nina' AND live = true
//     an update to the item with artist 'Nina', on the condition that the item exists and live = true
#pragma once

#include <memory>

#include "compat/items/write_item.h"
#include "compat/partiql/statement.h"
#include "compat/wire/error.h"

namespace mayfly::compat::partiql {

// The caller must still call check_write: the key is not encoded yet. If `in_transaction` is true,
// check_write also reports an incomplete key; if it is false, this function reports the incomplete key:
// "Where clause does not contain a mandatory equality on all key attributes".
Result<ItemWrite> lower_write(std::shared_ptr<engine::LiveTable> table, Statement statement,
                              bool in_transaction);

// "EXISTS can only be used in ExecuteTransaction write requests."
Unexpected<Error> exists_outside_transaction();

// Returns the values that RETURNING requests.
ReturnValues return_values(const Statement& statement);

}  // namespace mayfly::compat::partiql
