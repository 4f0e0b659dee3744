// Items that are put together, in one commit: what imports and bulk puts write.
//
//   std::vector<Put> puts;
//   auto write = put_of(table, std::move(item));            // or why that is no item of the table
//   …
//   CHECK_OK(put_together(context, puts, counts));          // and then each Put::refused
//
// Each item is judged by itself, by the same rules as PutItem's, and those that are refused leave the others
// as they are. One commit for some dozens of them, since each costs a write of storage, and with --fsync a
// wait for the disk; AWS promises no more than that each is written.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "compat/data_files/record.h"
#include "compat/items/write_item.h"
#include "compat/jobs/job.h"

namespace mayfly::compat::imports {

inline constexpr std::size_t puts_max = 64;                 // of one commit
inline constexpr std::size_t puts_bytes_max = 1024 * 1024;  // but for the last item

struct Put {
  ItemWrite write;
  data_files::BadRecord where;   // what is said of it if it is refused
  std::size_t item_bytes = 0;    // by DynamoDB's count
  std::optional<Error> refused;  // by its condition, which has AWS's words, or by a rule of the table's
};

// Checks all that needs no table's item. Errors are PutItem's.
Result<Put> put_of(const std::shared_ptr<engine::LiveTable>& table, engine::Item item);

// Whether the batch may have this one, too: it has room, and no other of the same key.
bool takes(const std::vector<Put>& puts, const Put& put);

// Writes those that are not refused. `bytes`: adds what each wrote, to "bytes" and to "gsi/NAME", "lsi/NAME"
// and "vector/NAME" of the indexes; nullptr: nobody asks. An error is of all of them, and then none is
// written: the table is gone, or memory is full.
Result<void> put_together(Context& context, std::vector<Put>& puts, jobs::Counts* bytes);

}  // namespace mayfly::compat::imports
