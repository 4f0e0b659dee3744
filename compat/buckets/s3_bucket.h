// A bucket of any S3 endpoint (--s3-endpoint URL), by plain requests in path style:
//
//   http://127.0.0.1:9000/BUCKET/2024/05/data.json.gz
//
// Signed for S3 in a region where the invoker has a key. Each request, and each answer, is of a bounded size
// and takes a minute at most: an object is read in ranges, of which each says that it is of the same object
// (If-Match), and what is longer than a part is uploaded in parts. Rejected: one answer for a whole object.
// Its end would wait for as long as the reader takes, and a broken connection would begin it anew. An upload
// that is dropped is taken back. Answers that lead elsewhere are failures.
#pragma once

#include <memory>
#include <string>

#include "compat/buckets/bucket.h"
#include "compat/outbound/invoker.h"

namespace mayfly::compat::buckets {

struct S3Endpoint {
  outbound::Url url;
  std::string region = "us-east-1";  // for which requests are signed
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
  const std::shared_ptr<const Requests> requests_;  // of uploads, too
};

}  // namespace mayfly::compat::buckets
