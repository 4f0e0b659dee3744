// A bucket on any S3 endpoint (--s3-endpoint URL), accessed by plain path-style requests:
//
//   http://127.0.0.1:9000/BUCKET/2024/05/data.json.gz
//
// Requests are signed for S3 and the endpoint's region if the invoker has a key. Each request and each
// response has a bounded size and takes at most a minute. An object is read in ranges. The request for each
// range has If-Match, so that it fails if the object has changed. An object longer than a part is uploaded in
// parts. An upload that is destroyed is aborted. Redirects are failures. Rejected: reading a whole object in
// one response. Such a response would stay open until the reader is done, and a broken connection would force
// a new read from the object's start.
#pragma once

#include <memory>
#include <string>

#include "compat/buckets/bucket.h"
#include "compat/outbound/invoker.h"

namespace mayfly::compat::buckets {

struct S3Endpoint {
  outbound::Url url;
  std::string region = "us-east-1";  // the region that requests are signed for
  std::shared_ptr<outbound::Invoker> invoker;
};

class S3Bucket final : public Bucket {
 public:
  // Requires: the endpoint has an invoker.
  S3Bucket(S3Endpoint endpoint, std::string name);

  void list(std::string_view prefix, const std::optional<std::string>& token, std::stop_token stop,
            Done<Listing> done) override;
  void head(std::string_view key, std::stop_token stop, Done<Object> done) override;
  void read(std::string_view key, std::uint64_t offset, std::string_view version, std::stop_token stop,
            Done<Piece> done) override;
  std::unique_ptr<Upload> upload(std::string_view key) override;

 private:
  class Requests;
  class PartsUpload;
  const std::shared_ptr<const Requests> requests_;  // shared with uploads
};

}  // namespace mayfly::compat::buckets
