// Runs ImportTable: creates a table from a bucket's records.
//
// The objects are listed first. If the bucket does not exist, the import fails and creates no table. The
// table is CREATING until the import ends, successfully or not. A record that is not a valid item of the
// table is counted and logged, and the other records are imported. Such an import ends as FAILED with
// ItemValidationError, as AWS was observed to do (aws-controllers-k8s/dynamodb-controller, DDB-IMPORT-012 to
// 015).
//
//   jobs.start(job, std::make_unique<Import>(context, std::move(table), bucket, prefix, files), decide);
//
// An import counts ProcessedItemCount, ImportedItemCount, ErrorCount and ProcessedSizeBytes. Its log has one
// line for each error, in the form in which AWS writes errors to CloudWatch (data_files/record.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compat/context.h"
#include "compat/imports/put_reader.h"
#include "compat/imports/source.h"
#include "compat/jobs/work.h"
#include "engine/schema/table.h"

namespace mayfly::compat::imports {

class Import final : public jobs::Work {
 public:
  // Requires: `table` has a UUID and is complete except for the members that create_table fills in.
  Import(const Context& context, engine::Table table, SourceOptions options);
  ~Import() override;

  jobs::Step step(jobs::Run& run) override;

 private:
  jobs::Step list(jobs::Run& run);
  jobs::Step make_table(jobs::Run& run);
  jobs::Step read(jobs::Run& run);
  void note(jobs::Run& run, const data_files::BadRecord& bad);
  Result<void> write(jobs::Run& run);
  jobs::Step end(jobs::Ending ending);

  const engine::Scope scope_;
  Context context_;
  engine::Table description_;
  const std::string bucket_;
  Source source_;
  PutReader reader_{source_};
  bool is_held_ = false;  // this import keeps the table CREATING
  std::shared_ptr<engine::LiveTable> table_;
};

}  // namespace mayfly::compat::imports
