// StartBulkPutItems' work: the records of a bucket put into a table that is there, each if its condition lets
// it.
//
//   {"Item":{"id":{"S":"1"}},"ConditionExpression":"attribute_not_exists(id)"}
//
// Conditions are PutItem's: ExpressionAttributeNames and ExpressionAttributeValues stand beside them. Whom a
// condition turns away is no error. What is no item of the table is one, is counted and reported, and the
// others are put. When all are, the report is written (bulk_report.h). A bulk put that is cancelled stops
// after a commit, keeps what it has put, and writes no report. A table that is dropped meanwhile is its
// failure.
//
// Its counts: ProcessedItemCount, FailedItemCount, ConditionCheckFailureCount, ProcessedInputBytes, those of
// put_together for what was written, and TotalInputBytes once all objects are listed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "compat/context.h"
#include "compat/imports/bulk_report.h"
#include "compat/imports/put_reader.h"
#include "compat/imports/source.h"
#include "compat/jobs/work.h"

namespace mayfly::compat::imports {

// How one that was cancelled ends.
jobs::Ending cancelled_ending();

class BulkPut final : public jobs::Work {
 public:
  struct Options {
    SourceOptions source{};  // with conditions
    ReportOptions report{};
    std::string report_bucket;
    std::optional<std::int64_t> units_max{};  // write request units in a second; nothing: as fast as it can
  };
  BulkPut(const Context& context, std::shared_ptr<engine::LiveTable> table, Options options);

  jobs::Step step(jobs::Run& run) override;

 private:
  jobs::Step list(jobs::Run& run);
  jobs::Step read(jobs::Run& run);
  jobs::Step end(jobs::Run& run);
  // With its condition.
  Result<Put> read_put(engine::Item item) const;
  void fail(jobs::Run& run, const data_files::BadRecord& bad);
  Result<void> write(jobs::Run& run);

  const engine::Scope scope_;
  Context context_;
  const std::shared_ptr<engine::LiveTable> table_;
  const std::string report_bucket_;
  const ReportOptions report_options_;
  const std::optional<std::int64_t> units_max_;
  Source source_;
  PutReader reader_{source_};
  std::unique_ptr<BulkReport> report_;  // nullptr: the input is not listed yet
  bool reads_ = true;                   // the input is not at its end
  std::int64_t units_ = 0;              // of the last commit
};

}  // namespace mayfly::compat::imports
