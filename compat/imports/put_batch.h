// Puts items in batches, one commit for each, for imports and bulk puts.
//
//   std::vector<Put> puts;
//   auto write = put_of(table, std::move(item));            // or why the item does not fit the table
//   …
//   CHECK_OK(put_together(context, puts, counts));          // and then check each Put::refused
//
// PutItem's rules apply to each item separately; a rejected item does not affect the others. A commit covers
// several dozen items, because each commit costs a write to storage and, with --fsync, a wait for the disk.
// AWS promises only that each item is written, so several items can share a commit.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "compat/data_files/record.h"
#include "compat/items/write_item.h"
#include "compat/jobs/job.h"

namespace mayfly::compat::imports {

inline constexpr std::size_t puts_max = 64;                 // per commit
inline constexpr std::size_t puts_bytes_max = 1024 * 1024;  // per commit, not counting the last item

struct Put {
  ItemWrite write;
  data_files::BadRecord where;   // for the report if the item is rejected
  std::size_t item_bytes = 0;    // the item's size as DynamoDB counts it
  std::optional<Error> refused;  // set if the condition fails (AWS's message) or the item breaks a rule
};

// Makes every check that does not need the table's items. The errors are those of PutItem.
Result<Put> put_of(const std::shared_ptr<engine::LiveTable>& table, engine::Item item);

// Whether the put fits the batch: the batch has room, and no other put has the same key.
bool takes(const std::vector<Put>& puts, const Put& put);

// Writes the items that are not rejected. If `bytes` is not nullptr, adds the numbers of written bytes to
// these counts: "bytes" for the table, and "gsi/NAME", "lsi/NAME" and "vector/NAME" for indexes. Fails if the
// table was deleted or memory is full; then nothing of the batch is written.
Result<void> put_together(const Context& context, std::vector<Put>& puts, jobs::Counts* bytes);

}  // namespace mayfly::compat::imports
