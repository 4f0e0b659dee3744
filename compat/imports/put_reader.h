// Collects puts from a source until there are enough for a commit, for imports and bulk puts.
//
//   const Source::Got got = reader.gather(run, read, refuse);   // one step's records
//   CHECK_OK(put_together(context, reader.puts(), counts));
//   reader.puts().clear();
//
// The reader counts every record, good or bad, in ProcessedItemCount. A put that does not fit the batch,
// because of its key or because the batch is full, becomes the first of the next batch.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "compat/imports/put_batch.h"
#include "compat/imports/source.h"
#include "compat/jobs/work.h"

namespace mayfly::compat::imports {

class PutReader {
 public:
  static constexpr std::size_t records_max = 256;  // per step, good and bad

  // Converts an item to a put. The error says why the item does not fit the table.
  using Read = std::function<Result<Put>(engine::Item item)>;
  using Refuse = std::function<void(const data_files::BadRecord& record)>;

  // Requires: `source` outlives this object.
  explicit PutReader(Source& source) : source_(source) {}

  // Returns `later` when it has read one step's records. Requires: all objects of the source are listed.
  Source::Got gather(jobs::Run& run, const Read& read, const Refuse& refuse);
  [[nodiscard]] std::vector<Put>& puts() { return puts_; }

 private:
  void take(data_files::Record record, const Read& read, const Refuse& refuse);

  Source& source_;
  std::vector<Put> puts_;
  std::optional<Put> next_;
};

}  // namespace mayfly::compat::imports
