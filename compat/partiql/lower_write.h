// What an INSERT, UPDATE, DELETE or EXISTS means for its table: an ItemWrite like any other.
//
//   UPDATE music SET plays = 1 WHERE artist = 'Nina' AND live = true
//     an update of the item (artist 'Nina'), if it is there and live = true
#pragma once

#include <memory>

#include "compat/items/write_item.h"
#include "compat/partiql/statement.h"
#include "compat/wire/error.h"

namespace mayfly::compat::partiql {

// What is still to do is check_write: the key is not encoded yet. With `in_transaction` a key that is not
// whole is left to it, too; else it is "Where clause does not contain a mandatory equality on all key
// attributes".
Result<ItemWrite> lower_write(std::shared_ptr<engine::LiveTable> table, Statement statement,
                              bool in_transaction);

// "EXISTS can only be used in ExecuteTransaction write requests."
Unexpected<Error> exists_outside_transaction();

// What RETURNING asks for.
ReturnValues return_values(const Statement& statement);

}  // namespace mayfly::compat::partiql
