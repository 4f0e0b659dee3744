#include "compat/imports/import.h"

#include <utility>

#include "compat/buckets/buckets.h"
#include "compat/tables/changes.h"
#include "engine/items/recent_writes.h"

namespace mayfly::compat::imports {

using jobs::Status;
using jobs::Step;

Import::Import(const Context& context, engine::Table table, SourceOptions options)
    : scope_(context.scope),
      context_(context.for_job(scope_)),
      description_(std::move(table)),
      bucket_(options.bucket),
      source_(context.buckets.find(bucket_), std::move(options)) {}

Import::~Import() {
  if (is_held_) context_.table_changes.settle(scope_, description_.name);
}

Step Import::step(jobs::Run& run) { return table_ != nullptr ? read(run) : list(run); }

Step Import::list(jobs::Run& run) {
  // Descriptions show all counts from the start.
  for (const char* const name :
       {"ErrorCount", "ProcessedItemCount", "ImportedItemCount", "ProcessedSizeBytes"})
    run.progress.counts.try_emplace(name, 0);
  switch (source_.list(run)) {
    case Source::Got::failed: return Step::ends(ending_of(source_.failure()));
    case Source::Got::waits: return Step::waits();
    case Source::Got::over: return make_table(run);
    case Source::Got::record:
    case Source::Got::later: break;
  }
  return Step::goes_on();
}

Step Import::make_table(jobs::Run& run) {
  const jobs::Ending is_taken{Status::failed, "TableAlreadyExists",
                              "Table already exists: " + description_.name};
  // Mark the table as CREATING before it can be found, so that it is never visible as ACTIVE and empty.
  const auto shown = std::make_shared<const engine::Table>(description_);
  if (!context_.table_changes.try_hold(scope_, {TableStatus::creating, shown})) return Step::ends(is_taken);
  is_held_ = true;
  table_ = context_.database.tables().create(description_, context_.tables_max);
  if (table_ == nullptr) {
    if (context_.database.catalog().find(scope_, description_.name) != nullptr) return end(is_taken);
    return end({Status::failed, "LimitExceededException",
                "Subscriber limit exceeded: There is a limit of " + std::to_string(context_.tables_max) +
                    " tables per subscriber"});
  }
  context_.table_changes.hold(scope_, {TableStatus::creating, table_->description()});
  run.progress.total = source_.total_bytes();
  return Step::goes_on();
}

void Import::note(jobs::Run& run, const data_files::BadRecord& bad) {
  ++run.progress.counts["ErrorCount"];
  run.log.push_back(data_files::error_line(bucket_, run.job.arn, bad));
}

Result<void> Import::write(jobs::Run& run) {
  CHECK_OK(put_together(context_, reader_.puts(), nullptr));
  for (Put& put : reader_.puts()) {
    if (put.refused) {
      put.where.what = put.refused->message;
      note(run, put.where);
    } else {
      ++run.progress.counts["ImportedItemCount"];
    }
  }
  reader_.puts().clear();
  return {};
}

Step Import::read(jobs::Run& run) {
  const Source::Got got = reader_.gather(
      run, [this](engine::Item item) { return put_of(table_, std::move(item)); },
      [&](const data_files::BadRecord& bad) { note(run, bad); });
  if (const auto written = write(run); !written)
    return end({Status::failed, std::string(error_name(written.error().kind)), written.error().message});
  run.progress.done = source_.read_bytes();
  run.progress.counts["ProcessedSizeBytes"] = static_cast<std::int64_t>(source_.unpacked_bytes());
  switch (got) {
    case Source::Got::failed: return end(ending_of(source_.failure()));
    case Source::Got::waits: return Step::waits();
    case Source::Got::record:
    case Source::Got::later: return Step::goes_on();
    case Source::Got::over: break;
  }
  if (run.progress.counts["ErrorCount"] == 0) return end({Status::completed});
  return end({Status::failed, "ItemValidationError",
              "Some of the items failed validation checks and were not imported. Please check CloudWatch "
              "error logs for more details."});
}

// The table becomes ACTIVE before the import is reported as finished.
Step Import::end(jobs::Ending ending) {
  if (table_ != nullptr)
    context_.database.recent_writes().forget(table_->id());  // from now on, readers see all items
  if (std::exchange(is_held_, false)) context_.table_changes.settle(scope_, description_.name);
  return Step::ends(std::move(ending));
}

}  // namespace mayfly::compat::imports
