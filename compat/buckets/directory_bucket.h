// A directory as a bucket (--bucket NAME=DIR): an object is a regular file, and its key is the path below the
// directory.
//
//   TRY(auto bucket, DirectoryBucket::open("/exports"));
//
// No key leads out of the directory, and no link is followed (os/directory.h). A file is written under a
// temporary name, which begins with `upload_name` and is not a valid key, and is renamed to its key when it
// is complete. A server that is killed can leave such a file behind. Files are accessible only to their owner
// (0600), and so are the directories created for them (0700). If the disk is full, a write fails with
// InternalError and existing objects stay intact.
//
// Differences from S3: keys have no empty parts ("/a", "a//b", "a/") and at most 64 parts of at most 255
// bytes each, and no key is a path prefix of another ("a" and "a/b"). Files with other names, links, and
// anything else that is not a regular file are invisible.
#pragma once

#include <memory>
#include <string>

#include "compat/buckets/bucket.h"
#include "os/directory.h"

namespace mayfly::compat::buckets {

class DirectoryBucket final : public Bucket {
 public:
  static constexpr std::string_view upload_name = ".mayfly-upload-";
  static constexpr std::size_t parts_max = 64;

  // The error is a human-readable message.
  static Expected<std::shared_ptr<DirectoryBucket>, std::string> open(const std::string& path);

  void list(std::string_view prefix, const std::optional<std::string>& token, std::stop_token stop,
            Done<Listing> done) override;
  void head(std::string_view key, std::stop_token stop, Done<Object> done) override;
  void read(std::string_view key, std::uint64_t offset, std::string_view version, std::stop_token stop,
            Done<Piece> done) override;
  std::unique_ptr<Upload> upload(std::string_view key) override;

 private:
  class FileUpload;
  explicit DirectoryBucket(os::Directory directory)
      : directory_(std::make_shared<os::Directory>(std::move(directory))) {}

  const std::shared_ptr<os::Directory> directory_;  // shared with uploads
};

}  // namespace mayfly::compat::buckets
