#include "compat/exports/export_work.h"

#include <algorithm>
#include <utility>

#include "compat/data_files/writer.h"
#include "engine/schema/index_entries.h"
#include "engine/values/key_codec.h"

namespace mayfly::compat::exports {
namespace {

using data_files::ExportType;
using jobs::Step;

// Limits on one step, so that other requests and jobs of the account get their turn between steps.
constexpr std::uint64_t step_records_max = 1'000;
constexpr std::uint64_t step_bytes_max = 1024 * 1024;
constexpr std::uint64_t step_filter_steps_max = 1'000'000;

// Progress is measured as the position in the hash space.
constexpr int hash_bits_dropped = 32;
constexpr std::uint64_t progress_total = std::uint64_t{1} << 32;

__extension__ using Wide = unsigned __int128;

unsigned partition_of(std::string_view key, unsigned partitions) {
  return static_cast<unsigned>((static_cast<Wide>(engine::partition_hash(key)) * partitions) >> 64);
}

}  // namespace

struct ExportWork::DataFile {
  DataFile(buckets::Bucket& bucket, std::string key_) : key(std::move(key_)), object(bucket, key) {}
  const std::string key;
  jobs::ObjectWriter object;
  data_files::Gzip gzip;
  Md5 sum;  // of the packed data
  std::uint64_t packed_bytes = 0;
  std::int64_t items = 0;
  bool goes_on_in_next = false;  // the file has reached its maximum size and its partition continues in the
                                 // next file
};

ExportWork::ExportWork(engine::Database& database, Parts parts)
    : database_(database), parts_(std::move(parts)) {}

ExportWork::~ExportWork() = default;

Step ExportWork::step(jobs::Run& run) {
  if (run.stop.stop_requested()) return Step::ends({jobs::Status::cancelled, {}, {}});
  records_left_ = step_records_max, bytes_left_ = step_bytes_max, steps_left_ = step_filter_steps_max;
  auto outcome = go_on(run);
  if (outcome) return *std::move(outcome);
  // Incomplete objects are dropped before the failure becomes visible.
  object_.reset();
  file_.reset();
  return Step::ends({jobs::Status::failed, buckets::failure_code(outcome.error()),
                     buckets::failure_message(outcome.error())});
}

buckets::Outcome<Step> ExportWork::go_on(jobs::Run& run) {
  if (keys_.data.empty()) {
    if (!parts_.bucket) return Unexpected{parts_.bucket.error()};
    keys_ = data_files::export_keys(parts_.asked.prefix, run.job.id,
                                    parts_.asked.incremental() ? ExportType::incremental : ExportType::full);
    run.progress.total = progress_total;
    run.progress.counts.emplace(item_count, 0);
    run.progress.counts.emplace(billed_bytes, 0);
  }
  while (stage_ != Stage::done) {
    if (stage_ == Stage::data) {
      TRY(const auto written, write_data(run));
      if (!written) return Step::goes_on();
      if (!*written) return Step::waits();
    } else {
      TRY(const bool written, write_object(run));
      if (!written) return Step::waits();
    }
    stage_ = static_cast<Stage>(static_cast<int>(stage_) + 1);
  }
  return Step::ends({jobs::Status::completed, {}, {}});
}

buckets::Outcome<bool> ExportWork::write_object(jobs::Run& run) {
  if (object_ == nullptr) {
    object_ = std::make_unique<jobs::ObjectWriter>(**parts_.bucket, object_key());
    object_->add(object_text(run));
    object_->end();
  }
  CHECK_OK(object_->advance(run));
  if (!object_->stored()) return false;
  object_.reset();
  return true;
}

std::string_view ExportWork::object_key() const {
  switch (stage_) {
    case Stage::started: return keys_.started;
    case Stage::files: return keys_.files;
    case Stage::files_checksum: return keys_.files_checksum;
    case Stage::summary: return keys_.summary;
    case Stage::summary_checksum: return keys_.summary_checksum;
    case Stage::data:
    case Stage::done: break;
  }
  return {};
}

std::string ExportWork::object_text(jobs::Run& run) {
  switch (stage_) {
    case Stage::files: return files_manifest_;
    case Stage::files_checksum: return data_files::checksum_of(files_manifest_);
    case Stage::summary:
      if (std::int64_t& billed = run.progress.counts[std::string(billed_bytes)]; parts_.asked.incremental())
        billed = std::max(billed, incremental_billed_bytes_min);
      summary_ = summary(run);
      return summary_;
    case Stage::summary_checksum: return data_files::checksum_of(summary_);
    case Stage::started:
    case Stage::data:
    case Stage::done: break;
  }
  return {};
}

buckets::Outcome<std::optional<bool>> ExportWork::write_data(jobs::Run& run) {
  while (partition_ < parts_.partitions) {
    if (file_ == nullptr) {
      file_ = std::make_unique<DataFile>(
          **parts_.bucket, keys_.data + data_files::data_file_name(*database_.options().random,
                                                                   parts_.asked.format_or_default()));
    }
    TRY(const bool idle, file_->object.advance(run));
    if (!idle) return std::optional<bool>(false);
    if (const auto& stored = file_->object.stored()) {
      data_files::append_data_file(
          files_manifest_,
          {.items = file_->items, .md5 = file_->sum.end(), .etag = stored->etag, .key = file_->key});
      if (!file_->goes_on_in_next) ++partition_;
      file_.reset();
      continue;
    }
    if (records_left_ == 0 || bytes_left_ == 0 || steps_left_ == 0) return std::optional<bool>();
    fill(run);
  }
  run.progress.done = progress_total;
  return std::optional<bool>(true);
}

void ExportWork::fill(jobs::Run& run) {
  while (file_->object.wants_more() && records_left_ > 0 && bytes_left_ > 0 && steps_left_ > 0) {
    if (parts_.records != nullptr && !has_record_) {
      has_record_ = parts_.records->next();
      if (!has_record_) parts_.records.reset();  // releases the snapshot
    }
    if (!has_record_ || partition_of(parts_.records->key(), parts_.partitions) > partition_)
      return end_file();
    if (file_->packed_bytes >= data_file_bytes_max) {
      file_->goes_on_in_next = true;
      return end_file();
    }
    pack(run);
    has_record_ = false;
  }
}

void ExportWork::pack(jobs::Run& run) {
  const Records& records = *parts_.records;
  const ExportRequest& asked = parts_.asked;
  --records_left_;
  run.progress.done = engine::partition_hash(records.key()) >> hash_bits_dropped;
  const engine::StoredItem *const now = records.new_image(), *const before = records.old_image();
  if (!parts_.filter.reads(records.key()) || (now == nullptr && before == nullptr)) return;
  const std::size_t bytes = (now != nullptr ? now->size() : 0) + (before != nullptr ? before->size() : 0);
  run.progress.counts[std::string(billed_bytes)] += static_cast<std::int64_t>(bytes);
  bytes_left_ -= std::min<std::uint64_t>(bytes_left_, bytes);
  const engine::Item& latest = (now != nullptr ? now : before)->item();
  steps_left_ -= std::min(steps_left_, parts_.filter.steps(latest));
  if (!parts_.filter.takes(latest)) return;

  line_.clear();
  const auto format = asked.format_or_default();
  if (!asked.incremental()) {
    data_files::append_item(line_, format, parts_.filter.projects() ? parts_.filter.shown(latest) : latest);
  } else {
    std::optional<engine::Item> shown_now, shown_before;
    if (now != nullptr) shown_now = parts_.filter.shown(now->item());
    if (before != nullptr && asked.old_images_or_default())
      shown_before = parts_.filter.shown(before->item());
    const engine::Item keys = engine::key_attributes(parts_.table->keys, latest);
    constexpr std::int64_t micros_of_ms = 1000;
    data_files::append_change(line_, format,
                              {.write_micros = records.written() * micros_of_ms,
                               .keys = keys,
                               .new_image = shown_now ? &*shown_now : nullptr,
                               .old_image = shown_before ? &*shown_before : nullptr});
  }
  ++file_->items;
  ++run.progress.counts[std::string(item_count)];
  file_->gzip.add(line_);
  const std::string packed = file_->gzip.take();
  file_->packed_bytes += packed.size();
  file_->sum.add(packed);
  file_->object.add(packed);
}

void ExportWork::end_file() {
  file_->gzip.end();
  const std::string packed = file_->gzip.take();
  file_->sum.add(packed);
  file_->object.add(packed);
  file_->object.end();
}

std::string ExportWork::summary(const jobs::Run& run) const {
  const ExportRequest& asked = parts_.asked;
  data_files::ExportSummary summary{
      .type = asked.incremental() ? ExportType::incremental : ExportType::full,
      .export_arn = run.job.arn,
      .table_arn = asked.table_arn,
      .table_id = run.job.table_uuid,
      .start = run.job.started,
      .end = std::max(database_.accounts().of(run.job.scope.account).now(), run.job.started),
      .time = asked.until,
      .from = asked.from.value_or(0),
      .to = asked.until,
      .bucket = asked.bucket,
      .prefix = asked.prefix,
      .sse_key_id = asked.sse_key_id,
      .files_key = keys_.files,
      .billed_bytes = run.progress.counts.find(billed_bytes)->second,
      .items = run.progress.counts.find(item_count)->second,
      .format = asked.format_or_default(),
      .old_images = asked.old_images_or_default()};
  if (!asked.sse_algorithm.empty()) summary.sse_algorithm = asked.sse_algorithm;
  return data_files::summary_manifest(summary);
}

}  // namespace mayfly::compat::exports
