// Writes an object into a bucket in steps that do not block.
//
//   writer.add(bytes);                                     // as long as it wants_more()
//   writer.end();
//   TRY(const bool idle, writer.advance(run));             // false: a call in flight will wake the job
//   if (idle && writer.stored()) use(writer.stored()->etag);
//
// The writer holds the added bytes that the bucket has not accepted yet: at most a piece and the bytes of one
// add(). If the writer is destroyed before the object is stored, the bucket keeps none of the object's data.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compat/buckets/bucket.h"
#include "compat/jobs/bucket_call.h"
#include "compat/jobs/work.h"

namespace mayfly::compat::jobs {

class ObjectWriter {
 public:
  ObjectWriter(buckets::Bucket& bucket, std::string_view key) : upload_(bucket.upload(key)) {}

  void add(std::string_view bytes) { waiting_ += bytes; }
  void end() { ended_ = true; }
  [[nodiscard]] bool wants_more() const { return waiting_.size() < buckets::piece_bytes_max; }

  // Makes progress without blocking. Returns true if the object is stored, or if nothing can be done until
  // more bytes are added.
  buckets::Outcome<bool> advance(const Run& run);
  // Set when the object is stored.
  [[nodiscard]] const std::optional<buckets::Stored>& stored() const { return stored_; }

 private:
  const std::unique_ptr<buckets::Upload> upload_;
  BucketCall<void> append_;
  BucketCall<buckets::Stored> finish_;
  std::string waiting_;
  bool ended_ = false;
  std::optional<buckets::Stored> stored_;
};

}  // namespace mayfly::compat::jobs
