// Runs StartBulkPutItems: puts a bucket's records into an existing table, each only if its condition holds.
//
//   {"Item":{"id":{"S":"1"}},"ConditionExpression":"attribute_not_exists(id)"}
//
// Conditions are PutItem's; ExpressionAttributeNames and ExpressionAttributeValues are members of the same
// record. A failed condition is not an error. A record that is not an item of the table is an error: it is
// counted and reported, and the other records are put. At the end, the report is written (bulk_report.h). A
// cancelled bulk put stops after a commit, keeps what it has put, and writes no report. If the table is
// deleted meanwhile, the bulk put fails.
//
// A bulk put counts ProcessedItemCount, FailedItemCount, ConditionCheckFailureCount, ProcessedInputBytes,
// put_together's counts of written bytes, and TotalInputBytes once all objects are listed.
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

// The ending of a cancelled bulk put.
jobs::Ending cancelled_ending();

class BulkPut final : public jobs::Work {
 public:
  struct Options {
    SourceOptions source{};  // its records can have conditions
    ReportOptions report{};
    std::string report_bucket;
    std::optional<std::int64_t> units_max{};  // write request units per second; nullopt: unlimited
  };
  BulkPut(const Context& context, std::shared_ptr<engine::LiveTable> table, Options options);

  jobs::Step step(jobs::Run& run) override;

 private:
  jobs::Step list(jobs::Run& run);
  jobs::Step read(jobs::Run& run);
  jobs::Step end(jobs::Run& run);
  // Reads the item together with its condition.
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
  std::unique_ptr<BulkReport> report_;  // nullptr until the input is listed
  bool reads_ = true;                   // the input has not ended
  std::int64_t units_ = 0;              // write request units of the last commit
};

}  // namespace mayfly::compat::imports
