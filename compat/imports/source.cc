#include "compat/imports/source.h"

#include <utility>

namespace mayfly::compat::imports {
namespace {

constexpr int not_found = 404, precondition_failed = 412, range_not_satisfiable = 416;

// Whether the failure concerns only one object, so that the other objects can still be read.
bool is_of_one_object(const buckets::Failure& failure) {
  return failure.code == "NoSuchKey" || failure.status == precondition_failed ||
         failure.status == range_not_satisfiable ||
         (failure.status == not_found && failure.code != "NoSuchBucket");
}

}  // namespace

Source::Source(buckets::Outcome<std::shared_ptr<buckets::Bucket>> bucket, SourceOptions options)
    : bucket_(std::move(bucket)), options_(std::move(options)) {}

Source::Got Source::fail(buckets::Failure failure) {
  failure_ = std::move(failure);
  return Got::failed;
}

Source::Got Source::list(jobs::Run& run) {
  if (!bucket_) return fail(bucket_.error());
  if (!listed_ && !listing_.under_way())
    listing_.start(run,
                   [&](auto done) { (*bucket_)->list(options_.prefix, token_, run.stop, std::move(done)); });
  auto listing = listing_.take();
  if (!listing) return listed_ ? Got::over : Got::waits;
  if (!*listing) return fail(listing->error());
  const std::size_t listed_before = objects_.size();
  for (buckets::Object& object : (*listing)->objects) {
    // Skips the empty objects that consoles create for directories.
    if (object.bytes == 0 && object.key.ends_with('/')) continue;
    if (objects_.size() == objects_max) {
      return fail(
          buckets::invalid_argument("The prefix has more than " + std::to_string(objects_max) + " objects"));
    }
    total_bytes_ += object.bytes;
    objects_.push_back(std::move(object));
  }
  token_ = std::move((*listing)->next_token);
  listed_ = !token_;
  if (objects_.size() == listed_before && ++empty_pages_ > empty_pages_max) {
    return fail(buckets::internal_error("The bucket's listing has more than " +
                                        std::to_string(empty_pages_max) + " pages without an object"));
  }
  if (token_ && !tokens_.advance(*token_))
    return fail(buckets::internal_error("The bucket's endpoint returned the same continuation token twice"));
  return listed_ ? Got::over : Got::later;
}

std::uint64_t Source::unpacked_bytes() const {
  return unpacked_before_ + (reader_ != nullptr ? reader_->unpacked_bytes() : 0);
}

void Source::begin_object() {
  data_files::ReaderOptions files = options_.files;
  files.file = objects_[next_object_++].key;
  reader_ = std::make_unique<data_files::Reader>(std::move(files));
  offset_ = 0;
  version_.clear();
}

Source::Got Source::end_object(const buckets::Failure& why) {
  const data_files::BadRecord bad{
      .file = objects_[next_object_ - 1].key, .what = buckets::failure_message(why), .ends_file = true};
  record_.emplace(Unexpected{bad});
  unpacked_before_ = unpacked_bytes();
  reader_.reset();
  return Got::record;
}

Source::Got Source::next(jobs::Run& run) {
  if (failure_) return Got::failed;
  if (reader_ != nullptr) {
    record_ = reader_->next();
    if (record_) return Got::record;
    if (reader_->is_over()) {
      unpacked_before_ = unpacked_bytes();
      reader_.reset();
    }
  }
  if (reader_ == nullptr) {
    if (next_object_ == objects_.size()) return Got::over;
    begin_object();
  }
  if (!read_.under_way()) {
    read_.start(run, [&](auto done) {
      (*bucket_)->read(objects_[next_object_ - 1].key, offset_, version_, run.stop, std::move(done));
    });
  }
  auto piece = read_.take();
  if (!piece) return Got::waits;
  if (!*piece) return is_of_one_object(piece->error()) ? end_object(piece->error()) : fail(piece->error());
  const std::uint64_t end = offset_ + (*piece)->bytes.size();
  if ((*piece)->bytes.empty() && end < (*piece)->object_bytes)
    return end_object(buckets::changed_meanwhile());
  if (offset_ == 0) object_bytes_ = (*piece)->object_bytes;
  if ((*piece)->object_bytes != object_bytes_) return end_object(buckets::changed_meanwhile());
  offset_ = end;
  version_ = (*piece)->version;
  read_bytes_ += (*piece)->bytes.size();
  reader_->feed(std::move((*piece)->bytes));
  if (offset_ >= (*piece)->object_bytes) reader_->end();
  return Got::later;
}

jobs::Ending ending_of(const buckets::Failure& failure) {
  return {jobs::Status::failed, buckets::failure_code(failure), buckets::failure_message(failure)};
}

}  // namespace mayfly::compat::imports
