// The records of all objects of a bucket whose keys begin with a prefix, one after the other: what imports
// and bulk puts read.
//
//   Source source(buckets.find("b"), {.bucket = "b", .prefix = "2024/", .files = {.format = Format::csv}});
//   while (source.list(run) …)                       // first all objects are listed
//   switch (source.next(run)) {
//     case Source::Got::record: use(source.take_record()); …
//     case Source::Got::later: return Step::goes_on();      // it has read a piece and no record yet
//     case Source::Got::waits: return Step::waits();        // a call to the bucket is under way
//     …
//
// It holds a piece of one object, what a reader holds (data_files/reader.h), and the list of the objects. An
// object that is gone by the time that it is read, or is another one by its second piece, is a bad record
// that ends its file, as AWS was seen to count it (aws-controllers-k8s/dynamodb-controller, DDB-IMPORT-007).
// Any other failure of the bucket ends all.
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

inline constexpr std::size_t objects_max = 50'000;  // of one job: AWS's quota
// Pages of a listing without an object to read; an endpoint could return such pages forever.
inline constexpr std::size_t empty_pages_max = 1000;

struct SourceOptions {
  std::string bucket, prefix;
  data_files::ReaderOptions files{};  // but for a file's name
};

class Source {
 public:
  enum class Got : unsigned char { record, later, waits, over, failed };

  // A bucket that was not found is the failure of its listing.
  Source(buckets::Outcome<std::shared_ptr<buckets::Bucket>> bucket, SourceOptions options);

  // over: all objects are listed.
  Got list(jobs::Run& run);
  // Requires: all objects are listed.
  Got next(jobs::Run& run);

  // Requires: `record`, once.
  [[nodiscard]] data_files::Record take_record() { return *std::move(record_); }
  // Where that record is, for what is wrong with it.
  [[nodiscard]] data_files::BadRecord place() const { return reader_->place(); }
  // The same record as DYNAMODB_JSON, where the reader keeps it (ReaderOptions::with_conditions) and it is
  // good.
  [[nodiscard]] const std::string& record_json() const { return reader_->json(); }
  // Requires: `failed`.
  [[nodiscard]] const buckets::Failure& failure() const { return *failure_; }

  [[nodiscard]] std::uint64_t total_bytes() const {
    return total_bytes_;
  }  // of all objects, as they are stored
  [[nodiscard]] std::uint64_t read_bytes() const { return read_bytes_; }  // of those
  [[nodiscard]] std::uint64_t unpacked_bytes() const;                     // that these became

 private:
  Got fail(buckets::Failure failure);
  // The object's records end here, with this one.
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
  std::size_t next_object_ = 0;  // the one after that which is being read
  std::uint64_t total_bytes_ = 0, read_bytes_ = 0, unpacked_before_ = 0;

  std::unique_ptr<data_files::Reader> reader_;  // of the object that is being read; nullptr: of none
  jobs::BucketCall<buckets::Piece> read_;
  std::uint64_t offset_ = 0;
  std::uint64_t object_bytes_ = 0;  // as the first piece says
  std::string version_;
  std::optional<data_files::Record> record_;
  std::optional<buckets::Failure> failure_;
};

// How such a failure ends a job.
jobs::Ending ending_of(const buckets::Failure& failure);

}  // namespace mayfly::compat::imports
