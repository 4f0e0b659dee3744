// Writes an export into its bucket, as a job (jobs/work.h): `_started`, one or more data files for each
// partition of the table, the files' manifest, the summary, and the checksums of both.
//
//   jobs.start(std::move(job), std::make_unique<ExportWork>(database, std::move(parts)), decide);
//
// See data_files/manifest.h for the files' names and data_files/writer.h for their contents. Only the
// summary's checksum is written after the summary, so an export that has a summary is complete. The work
// keeps only a piece of a file and the lines of the files' manifest in memory. If the bucket fails, the
// export is FAILED with S3's name for the failure and has no summary; files stored by then remain.
//
// BilledSizeBytes is the size of the items that were read, and at least 10 MB for an incremental export. A
// full export counts all items that its key condition admits; an incremental export counts both images of
// each change. (AWS bills a full export by the table's size as of up to six hours ago, which is why it
// reports 0 for a new table.)
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "compat/buckets/buckets.h"
#include "compat/data_files/compression.h"
#include "compat/data_files/manifest.h"
#include "compat/exports/export_request.h"
#include "compat/exports/filter.h"
#include "compat/exports/records.h"
#include "compat/jobs/object_writer.h"
#include "compat/jobs/work.h"
#include "compat/wire/md5.h"
#include "engine/database.h"

namespace mayfly::compat::exports {

// Once a data file has this many packed bytes, its partition continues in another file.
inline constexpr std::uint64_t data_file_bytes_max = std::uint64_t{1} << 30;
inline constexpr std::int64_t incremental_billed_bytes_min = 10'000'000;

// AWS's names for the job's counts.
inline constexpr std::string_view item_count = "ItemCount", billed_bytes = "BilledSizeBytes";

class ExportWork final : public jobs::Work {
 public:
  struct Parts {
    buckets::Outcome<std::shared_ptr<buckets::Bucket>> bucket;  // an error if the bucket is not found
    std::shared_ptr<const engine::Table> table;
    std::unique_ptr<Records> records;
    ExportRequest asked;
    Filter filter;
    unsigned partitions = 1;  // each has at least one data file
  };
  ExportWork(engine::Database& database, Parts parts);
  ~ExportWork() override;

  jobs::Step step(jobs::Run& run) override;

 private:
  enum class Stage : std::uint8_t { started, data, files, files_checksum, summary, summary_checksum, done };
  struct DataFile;

  buckets::Outcome<jobs::Step> go_on(jobs::Run& run);
  // Writes an object other than a data file. Returns false if a call is in flight.
  buckets::Outcome<bool> write_object(jobs::Run& run);
  [[nodiscard]] std::string_view object_key() const;
  [[nodiscard]] std::string object_text(jobs::Run& run);
  // Writes the data files. Returns false if a call is in flight, and nullopt if the step has done enough.
  buckets::Outcome<std::optional<bool>> write_data(jobs::Run& run);
  // Packs records until the file's writer has enough, or the partition or the file ends.
  void fill(jobs::Run& run);
  void pack(jobs::Run& run);  // packs one record
  void end_file();
  [[nodiscard]] std::string summary(const jobs::Run& run) const;

  engine::Database& database_;
  Parts parts_;
  data_files::ExportKeys keys_;  // empty before the first step
  Stage stage_ = Stage::started;
  std::unique_ptr<jobs::ObjectWriter> object_;
  std::unique_ptr<DataFile> file_;  // nullptr if no file is open
  unsigned partition_ = 0;
  bool has_record_ = false;  // a record was read but is not packed yet; it may belong to a later partition
  std::uint64_t records_left_ = 0, bytes_left_ = 0, steps_left_ = 0;  // in this step
  std::string line_;
  std::string files_manifest_, summary_;
};

}  // namespace mayfly::compat::exports
