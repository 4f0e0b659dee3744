// An object on its way into a bucket, written in steps that wait for nobody.
//
//   writer.add(bytes);                                     // as often as it wants_more()
//   writer.end();
//   TRY(const bool idle, writer.advance(run));             // false: a call is under way, which will wake the
//   job if (idle && writer.stored()) use(writer.stored()->etag);
//
// It holds what was added and is not taken yet: a piece, and what one `add` brings. Dropped before it is
// stored, it leaves nothing in the bucket.
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

  // Does what can be done. True: there is nothing to do until more is added, or all is done.
  buckets::Outcome<bool> advance(const Run& run);
  // Of the object, once it is there.
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
