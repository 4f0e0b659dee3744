#include "compat/buckets/buckets.h"

#include <algorithm>
#include <utility>

#include "compat/buckets/directory_bucket.h"
#include "engine/base/text.h"

namespace mayfly::compat::buckets {

bool is_bucket_name(std::string_view name) {
  constexpr std::size_t bytes_min = 2, bytes_max = 255;
  using engine::is_alphanumeric;
  return name.size() >= bytes_min && name.size() <= bytes_max && is_alphanumeric(name.front()) &&
         is_alphanumeric(name.back()) && std::all_of(name.begin(), name.end(), [](char c) {
           return is_alphanumeric(c) || c == '.' || c == '-' || c == '_';
         });
}

Expected<std::unique_ptr<Buckets>, std::string> Buckets::open(BucketOptions options) {
  auto buckets = std::unique_ptr<Buckets>(new Buckets);
  for (const auto& [name, path] : options.directories) {
    if (!is_bucket_name(name)) return Unexpected{"'" + name + "' is not a valid bucket name"};
    TRY(buckets->directories_[name], DirectoryBucket::open(path));
  }
  buckets->endpoint_ = std::move(options.endpoint);
  return buckets;
}

Outcome<std::shared_ptr<Bucket>> Buckets::find(std::string_view name) const {
  if (const auto found = directories_.find(name); found != directories_.end()) return found->second;
  if (!endpoint_ || !is_bucket_name(name)) return Unexpected{no_such_bucket()};
  return std::make_shared<S3Bucket>(*endpoint_, std::string(name));
}

}  // namespace mayfly::compat::buckets
