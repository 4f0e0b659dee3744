// The buckets that a server knows: directories by their names, and an endpoint for all other names.
//
//   TRY(auto buckets, Buckets::open({.directories = {{"exports", "/var/exports"}}}));
//   TRY(const auto bucket, buckets->find("exports"));     // NoSuchBucket: it knows none of that name
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
  std::optional<S3Endpoint> endpoint;              // nothing: there is none
};

// Thread-safe.
class Buckets {
 public:
  // The error is a sentence for people.
  static Expected<std::unique_ptr<Buckets>, std::string> open(BucketOptions options);

  // Whether an endpoint has a bucket of that name is found out when it is asked for something.
  [[nodiscard]] Outcome<std::shared_ptr<Bucket>> find(std::string_view name) const;

 private:
  Buckets() = default;
  std::map<std::string, std::shared_ptr<Bucket>, std::less<>> directories_;
  std::optional<S3Endpoint> endpoint_;
};

// 2 to 255 letters, digits, '.', '-' and '_', with a letter or a digit at both ends: the API model's pattern.
bool is_bucket_name(std::string_view name);

}  // namespace mayfly::compat::buckets
