#include "compat/imports/bulk_put.h"

#include <chrono>
#include <utility>

#include "compat/buckets/buckets.h"
#include "compat/wire/shapes_common.h"

namespace mayfly::compat::imports {
namespace {

using jobs::Status;
using jobs::Step;

constexpr std::size_t unit_bytes = 1024;

constexpr Member record_members[] = {
    {"ConditionExpression", &shapes::any_string},
    {"ExpressionAttributeNames", &shapes::expression_names},
    {"ExpressionAttributeValues", &shapes::expression_values},
};
constexpr Shape record_shape = structure("BulkPutItem", record_members);

}  // namespace

jobs::Ending cancelled_ending() {
  return {Status::cancelled, "Cancelled", "The bulk operation was cancelled."};
}

BulkPut::BulkPut(const Context& context, std::shared_ptr<engine::LiveTable> table, Options options)
    : scope_(context.scope),
      context_(context.for_job(scope_)),
      table_(std::move(table)),
      report_bucket_(std::move(options.report_bucket)),
      report_options_(std::move(options.report)),
      units_max_(options.units_max),
      source_(context.buckets.find(report_options_.input_bucket), std::move(options.source)) {}

Step BulkPut::step(jobs::Run& run) {
  if (run.stop.stop_requested()) return Step::ends(cancelled_ending());
  if (report_ == nullptr) return list(run);
  return reads_ ? read(run) : end(run);
}

Step BulkPut::list(jobs::Run& run) {
  for (const char* const name :
       {"ProcessedItemCount", "FailedItemCount", "ConditionCheckFailureCount", "ProcessedInputBytes"})
    run.progress.counts.try_emplace(name, 0);
  switch (source_.list(run)) {
    case Source::Got::failed: return Step::ends(ending_of(source_.failure()));
    case Source::Got::waits: return Step::waits();
    case Source::Got::record:
    case Source::Got::later: return Step::goes_on();
    case Source::Got::over: break;
  }
  auto bucket = context_.buckets.find(report_bucket_);
  if (!bucket) return Step::ends(ending_of(bucket.error()));
  report_ = std::make_unique<BulkReport>(report_options_, *std::move(bucket));
  run.progress.total = source_.total_bytes();
  run.progress.counts["TotalInputBytes"] = static_cast<std::int64_t>(source_.total_bytes());
  return Step::goes_on();
}

void BulkPut::fail(jobs::Run& run, const data_files::BadRecord& bad) {
  ++run.progress.counts["FailedItemCount"];
  report_->add_error(run.job, bad);
  run.log.push_back(bad.file + ", item " + std::to_string(bad.index) + ": " + bad.what);
}

Result<Put> BulkPut::read_put(engine::Item item) const {
  TRY(Put put, put_of(table_, std::move(item)));
  const auto document = json::parse(source_.record_json());
  if (document == nullptr) return put;
  const json::Value& whole = document->root();
  CHECK_OK(check_types(record_shape, whole));
  CHECK_OK(read_current_expressions(whole, put.write, context_.frame));
  put.write.item_on_failed_condition = true;
  return put;
}

Result<void> BulkPut::write(jobs::Run& run) {
  units_ = 0;
  for (const Put& put : reader_.puts())
    units_ += static_cast<std::int64_t>((put.item_bytes + unit_bytes - 1) / unit_bytes);
  CHECK_OK(put_together(context_, reader_.puts(), &run.progress.counts));
  for (Put& put : reader_.puts()) {
    if (!put.refused) continue;
    if (put.refused->kind == Error::Kind::conditional_check_failed) {
      ++run.progress.counts["ConditionCheckFailureCount"];
      // The error's `extra` is "Item":{…}, as in ConditionalCheckFailedException.
      constexpr std::string_view name = "\"Item\":";
      const std::string_view extra = put.refused->extra;
      report_->add_condition_failure(run.job, put.where, put.write.item.item(),
                                     extra.starts_with(name) ? extra.substr(name.size()) : "");
    } else {
      put.where.what = put.refused->message;
      fail(run, put.where);
    }
  }
  reader_.puts().clear();
  return {};
}

Step BulkPut::read(jobs::Run& run) {
  // No input is read while a part of the report is being written.
  const auto reported = report_->advance(run);
  if (!reported) return Step::ends(ending_of(reported.error()));
  if (!*reported) return Step::waits();
  const Source::Got got = reader_.gather(
      run, [this](engine::Item item) { return read_put(std::move(item)); },
      [&](const data_files::BadRecord& bad) { fail(run, bad); });
  if (const auto written = write(run); !written) {
    return Step::ends(
        {Status::failed, std::string(error_name(written.error().kind)), written.error().message});
  }
  run.progress.done = source_.read_bytes();
  run.progress.counts["ProcessedInputBytes"] = static_cast<std::int64_t>(source_.read_bytes());
  if (got == Source::Got::failed) return Step::ends(ending_of(source_.failure()));
  reads_ = got != Source::Got::over;
  if (units_max_ && units_ > 0) return Step::rests(std::chrono::milliseconds(1000 * units_ / *units_max_));
  return got == Source::Got::waits ? Step::waits() : Step::goes_on();
}

Step BulkPut::end(jobs::Run& run) {
  const auto finished = report_->finish(run);
  if (!finished) return Step::ends(ending_of(finished.error()));
  if (!*finished) return Step::waits();
  const bool has_errors = run.progress.counts["FailedItemCount"] > 0;
  return Step::ends({has_errors ? Status::completed_with_errors : Status::completed});
}

}  // namespace mayfly::compat::imports
