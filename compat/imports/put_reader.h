// Reads puts from a source until they are enough for a commit: what imports and bulk puts have in common.
//
//   const Source::Got got = reader.gather(run, read, refuse);   // a step's worth of records
//   CHECK_OK(put_together(context, reader.puts(), counts));
//   reader.puts().clear();
//
// It counts each record, good or bad, as ProcessedItemCount. A put that does not go with the others, since it
// has the key of one of them or they are enough, waits for the next ones.
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
  static constexpr std::size_t records_max = 256;  // of a step, good and bad

  // What an item asks for, or why it is no item of the table.
  using Read = std::function<Result<Put>(engine::Item item)>;
  using Refuse = std::function<void(const data_files::BadRecord& record)>;

  // `source` outlives it.
  explicit PutReader(Source& source) : source_(source) {}

  // `later`: it has read a step's worth. Requires: all objects of the source are listed.
  Source::Got gather(jobs::Run& run, const Read& read, const Refuse& refuse);
  [[nodiscard]] std::vector<Put>& puts() { return puts_; }

 private:
  void take(data_files::Record record, const Read& read, const Refuse& refuse);

  Source& source_;
  std::vector<Put> puts_;
  std::optional<Put> next_;
};

}  // namespace mayfly::compat::imports
