// A directory as a bucket (--bucket NAME=DIR): an object is a regular file, its key the path below.
//
//   TRY(auto bucket, DirectoryBucket::open("/exports"));
//
// No key leads out of the directory, and no link is followed (outbound/beneath.h). A file that is written has
// a name of its own, which begins with `upload_name` and is no key, until it is whole; then it takes the
// key's place in one step. A server that is killed may leave such a file behind. Files are their owner's
// alone (0600), and so are the directories that are made for them (0700). A full disk is a failure,
// InternalError, and leaves what was there.
//
// Not as in S3: keys have no empty parts ("/a", "a//b", "a/"), at most 64 parts, of at most 255 bytes each,
// and no key is the beginning of another ("a" and "a/b"). What others put into the directory under other
// names, links and all that is no regular file, is not there.
#pragma once

#include <memory>
#include <string>

#include "compat/buckets/bucket.h"
#include "compat/outbound/beneath.h"

namespace mayfly::compat::buckets {

class DirectoryBucket final : public Bucket {
 public:
  static constexpr std::string_view upload_name = ".mayfly-upload-";
  static constexpr std::size_t parts_max = 64;

  // The error is a sentence for people.
  static Expected<std::shared_ptr<DirectoryBucket>, std::string> open(const std::string& path);

  void list(std::string_view prefix, const std::optional<std::string>& token, std::stop_token stop,
            Done<Listing> done) override;
  void head(std::string_view key, std::stop_token stop, Done<Object> done) override;
  void read(std::string_view key, std::uint64_t offset, std::string_view version, std::stop_token stop,
            Done<Piece> done) override;
  std::unique_ptr<Upload> upload(std::string_view key) override;

 private:
  class FileUpload;
  explicit DirectoryBucket(outbound::Descriptor directory)
      : directory_(std::make_shared<outbound::Descriptor>(std::move(directory))) {}

  const std::shared_ptr<outbound::Descriptor> directory_;  // of uploads, too
};

}  // namespace mayfly::compat::buckets
