#include "compat/imports/put_reader.h"

#include <utility>

namespace mayfly::compat::imports {

Source::Got PutReader::gather(jobs::Run& run, const Read& read, const Refuse& refuse) {
  if (next_) puts_.push_back(*std::exchange(next_, std::nullopt));
  for (std::size_t records = 0; records < records_max && !next_; ++records) {
    const Source::Got got = source_.next(run);
    if (got != Source::Got::record) return got;
    ++run.progress.counts["ProcessedItemCount"];
    take(source_.take_record(), read, refuse);
  }
  return Source::Got::later;
}

void PutReader::take(data_files::Record record, const Read& read, const Refuse& refuse) {
  if (!record) return refuse(record.error());
  data_files::BadRecord where = source_.place();
  auto put = read(*std::move(record));
  if (!put) {
    where.what = put.error().message;
    return refuse(where);
  }
  put->where = std::move(where);
  if (takes(puts_, *put)) {
    puts_.push_back(*std::move(put));
  } else {
    next_ = *std::move(put);
  }
}

}  // namespace mayfly::compat::imports
