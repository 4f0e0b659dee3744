// The job that writes an export into its bucket (jobs/work.h): `_started`, a data file or more for each
// partition of the table, the manifest of these, the summary, and the checksums of both.
//
//   jobs.start(std::move(job), std::make_unique<ExportWork>(database, std::move(parts)), decide);
//
// Where the files lie and what is in them: data_files/manifest.h, data_files/writer.h. The summary is written
// last but for its checksum: an export that has one is whole. Memory has a piece of a file and the lines of
// the files' manifest. Where the bucket fails, the export has FAILED with S3's name for it and no summary,
// and what was stored by then stays.
//
// Billed are the bytes of the items that were read: of a full export all of those that its key condition lets
// in, of an incremental one both images of each change, 10 MB at least. (AWS has a full export's table's size
// of up to six hours ago, which is why it says 0 of a new one.)
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

// What is packed into one data file before the next one of its partition begins.
inline constexpr std::uint64_t data_file_bytes_max = std::uint64_t{1} << 30;
inline constexpr std::int64_t incremental_billed_bytes_min = 10'000'000;

// Names of the job's counts: AWS's.
inline constexpr std::string_view item_count = "ItemCount", billed_bytes = "BilledSizeBytes";

class ExportWork final : public jobs::Work {
 public:
  struct Parts {
    buckets::Outcome<std::shared_ptr<buckets::Bucket>> bucket;  // an error: there is none of the name
    std::shared_ptr<const engine::Table> table;
    std::unique_ptr<Records> records;
    ExportRequest asked;
    Filter filter;
    unsigned partitions = 1;  // a data file each, at least
  };
  ExportWork(engine::Database& database, Parts parts);
  ~ExportWork() override;

  jobs::Step step(jobs::Run& run) override;

 private:
  enum class Stage : std::uint8_t { started, data, files, files_checksum, summary, summary_checksum, done };
  struct DataFile;

  buckets::Outcome<jobs::Step> go_on(jobs::Run& run);
  // One of the files that are no data file. False: it is under way.
  buckets::Outcome<bool> write_object(jobs::Run& run);
  [[nodiscard]] std::string_view object_key() const;
  [[nodiscard]] std::string object_text(jobs::Run& run);
  // The data files. False: one of them is under way; nothing: the step has done enough.
  buckets::Outcome<std::optional<bool>> write_data(jobs::Run& run);
  // Packs records until the file's writer has enough, or its partition, or it, is at its end.
  void fill(jobs::Run& run);
  void pack(jobs::Run& run);  // one record
  void end_file();
  [[nodiscard]] std::string summary(const jobs::Run& run) const;

  engine::Database& database_;
  Parts parts_;
  data_files::ExportKeys keys_;  // empty: before the first step
  Stage stage_ = Stage::started;
  std::unique_ptr<jobs::ObjectWriter> object_;
  std::unique_ptr<DataFile> file_;  // nullptr: none is open
  unsigned partition_ = 0;
  bool has_record_ = false;  // one that is not packed yet: it may be of a later partition
  std::uint64_t records_left_ = 0, bytes_left_ = 0, steps_left_ = 0;  // of the step
  std::string line_;
  std::string files_manifest_, summary_;
};

}  // namespace mayfly::compat::exports
