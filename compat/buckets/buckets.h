// The buckets that a server can access: directories by name, and an S3 endpoint for all other names.
//
//   TRY(auto buckets, Buckets::open({.directories = {{"exports", "/var/exports"}}}));
//   TRY(const auto bucket, buckets->find("exports"));     // error: NoSuchBucket if the name is unknown
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compat/buckets/bucket.h"
#include "compat/buckets/s3_bucket.h"

namespace mayfly::compat::buckets {

struct BucketOptions {
  std::map<std::string, std::string> directories;  // names to paths
  std::optional<S3Endpoint> endpoint;              // nullopt: no endpoint
};

// Thread-safe.
class Buckets {
 public:
  // The error is a human-readable message.
  static Expected<std::unique_ptr<Buckets>, std::string> open(BucketOptions options);

  // Does not check whether the endpoint has a bucket of this name; the first request to the bucket does.
  [[nodiscard]] Outcome<std::shared_ptr<Bucket>> find(std::string_view name) const;

 private:
  Buckets() = default;
  std::map<std::string, std::shared_ptr<Bucket>, std::less<>> directories_;
  std::optional<S3Endpoint> endpoint_;
};

// Whether the name has 2 to 255 letters, digits, '.', '-' and '_', with a letter or a digit at both ends. The
// pattern comes from AWS's API model.
bool is_bucket_name(std::string_view name);

}  // namespace mayfly::compat::buckets
