// Reads the records of all objects with a given key prefix in a bucket, one object after another, for imports
// and bulk puts.
//
//   Source source(buckets.find("b"), {.bucket = "b", .prefix = "2024/", .files = {.format = Format::csv}});
//   while (source.list(run) …)                       // first list all objects
//   switch (source.next(run)) {
//     case Source::Got::record: use(source.take_record()); …
//     case Source::Got::later: return Step::goes_on();      // it has read a piece, but no complete record
//     case Source::Got::waits: return Step::waits();        // a call to the bucket is in flight
//     …
//
// A source holds a piece of one object, a reader's memory (data_files/reader.h), and the list of objects. An
// object that is deleted before it is read, or replaced while it is read, counts as one bad record and is not
// read further, as was observed on AWS (aws-controllers-k8s/dynamodb-controller, DDB-IMPORT-007). Any other
// failure of the bucket ends the whole source.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compat/buckets/bucket.h"
#include "compat/data_files/reader.h"
#include "compat/jobs/bucket_call.h"
#include "compat/jobs/work.h"
#include "compat/outbound/page_keys.h"

namespace mayfly::compat::imports {

inline constexpr std::size_t objects_max = 50'000;  // per job: AWS's quota
// The maximum number of listing pages without an object to read; an endpoint could return such pages forever.
inline constexpr std::size_t empty_pages_max = 1000;

struct SourceOptions {
  std::string bucket, prefix;
  data_files::ReaderOptions files{};  // all options except for the file's name
};

class Source {
 public:
  enum class Got : unsigned char { record, later, waits, over, failed };

  // If `bucket` is a failure, because the bucket was not found, list() fails with the same failure.
  Source(buckets::Outcome<std::shared_ptr<buckets::Bucket>> bucket, SourceOptions options);

  // Returns `over` when all objects are listed.
  Got list(jobs::Run& run);
  // Requires: all objects are listed.
  Got next(jobs::Run& run);

  // Requires: next() has returned `record`; called once for each record.
  [[nodiscard]] data_files::Record take_record() { return *std::move(record_); }
  // Returns the location of that record, so that the caller can report problems with it.
  [[nodiscard]] data_files::BadRecord place() const { return reader_->place(); }
  // Returns the same record as DYNAMODB_JSON. Requires: ReaderOptions::with_conditions is set, and the record
  // is not a BadRecord.
  [[nodiscard]] const std::string& record_json() const { return reader_->json(); }
  // Requires: list() or next() has returned `failed`.
  [[nodiscard]] const buckets::Failure& failure() const { return *failure_; }

  // The size of all objects, as they are stored.
  [[nodiscard]] std::uint64_t total_bytes() const { return total_bytes_; }
  // The number of those bytes that were read, and the size of their unpacked text.
  [[nodiscard]] std::uint64_t read_bytes() const { return read_bytes_; }
  [[nodiscard]] std::uint64_t unpacked_bytes() const;

 private:
  Got fail(buckets::Failure failure);
  // Ends the object's records with a bad record.
  Got end_object(const buckets::Failure& why);
  void begin_object();

  const buckets::Outcome<std::shared_ptr<buckets::Bucket>> bucket_;
  const SourceOptions options_;
  jobs::BucketCall<buckets::Listing> listing_;
  bool listed_ = false;
  std::optional<std::string> token_;
  outbound::PageKeys tokens_;
  std::size_t empty_pages_ = 0;
  std::vector<buckets::Object> objects_;
  std::size_t next_object_ = 0;  // the index after the current object
  std::uint64_t total_bytes_ = 0, read_bytes_ = 0, unpacked_before_ = 0;

  std::unique_ptr<data_files::Reader> reader_;  // reads the current object; nullptr between objects
  jobs::BucketCall<buckets::Piece> read_;
  std::uint64_t offset_ = 0;
  std::uint64_t object_bytes_ = 0;  // the object's size, as the first piece reports it
  std::string version_;
  std::optional<data_files::Record> record_;
  std::optional<buckets::Failure> failure_;
};

// Returns the ending of a job whose bucket failed this way.
jobs::Ending ending_of(const buckets::Failure& failure);

}  // namespace mayfly::compat::imports
