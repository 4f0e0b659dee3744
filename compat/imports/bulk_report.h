// Writes a bulk put's report about the records that it did not write: one object for each requested kind of
// record, and a manifest that names the objects.
//
//   PREFIX/AWSDynamoDB/01700000600000-1a2b3c4d/error.json
//     {"itemS3Pointer":{"bucket":"b","key":"a.json","itemIndex":0},"bulkOperationArn":"arn:…",
//      "errorMessages":["…"]}
//   PREFIX/AWSDynamoDB/01700000600000-1a2b3c4d/condition-check-failure.json
//     {"itemS3Pointer":{…},"bulkOperationArn":"arn:…","attemptedItem":{…},"existingItem":{…}}
//   PREFIX/AWSDynamoDB/01700000600000-1a2b3c4d/manifest.json
//     {"bulkOperationArn":"arn:…","processedItemCount":3,"failedItemCount":1,
//      "conditionCheckFailureCount":1,"files":[{"outputType":"ERROR","key":"…","itemCount":1}]}
//
// The developer guide describes a report's contents ("Bulk put items output and reconciliation"). The names
// of keys and members above are Mayfly's, because no report from AWS was found. A kind without records has no
// object. The manifest is always written, and written last.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compat/buckets/bucket.h"
#include "compat/data_files/record.h"
#include "compat/jobs/object_writer.h"
#include "compat/jobs/work.h"

namespace mayfly::compat::imports {

struct ReportOptions {
  std::string input_bucket;  // the bucket with the objects that the report is about
  std::string prefix;
  bool errors = false, condition_failures = false;  // the requested kinds
};

class BulkReport {
 public:
  BulkReport(ReportOptions options, std::shared_ptr<buckets::Bucket> bucket)
      : options_(std::move(options)), bucket_(std::move(bucket)) {}

  void add_error(const jobs::Job& job, const data_files::BadRecord& bad);
  // `existing` is the existing item as JSON; empty if no item existed.
  void add_condition_failure(const jobs::Job& job, const data_files::BadRecord& where,
                             const engine::Item& attempted, std::string_view existing);
  // Makes progress without blocking. Returns true if more records can be added.
  buckets::Outcome<bool> advance(const jobs::Run& run);
  // Does the same, but returns true when the whole report is written. Requires: nothing is added afterwards.
  buckets::Outcome<bool> finish(const jobs::Run& run);

 private:
  struct File {
    std::string_view type, name;
    std::unique_ptr<jobs::ObjectWriter> writer{};  // nullptr if the object has no lines
    std::string key{};
    std::uint64_t lines = 0;
  };
  void add(const jobs::Job& job, File& file, std::string_view line);
  [[nodiscard]] std::string key_of(const jobs::Job& job, std::string_view name) const;
  [[nodiscard]] std::string manifest(const jobs::Run& run) const;

  const ReportOptions options_;
  const std::shared_ptr<buckets::Bucket> bucket_;
  File errors_{"ERROR", "error.json"};
  File condition_failures_{"CONDITION_CHECK_FAILURE", "condition-check-failure.json"};
  std::unique_ptr<jobs::ObjectWriter> manifest_;
};

}  // namespace mayfly::compat::imports
