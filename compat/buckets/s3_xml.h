// Reads and writes S3's XML with Expat: listings, errors, and the responses of multipart uploads.
//
//   read_listing(body)      -> objects and the next token; nullopt: not a listing, or a key in it is invalid
//   read_error(body)        -> its Code, Message, RequestId, HostId; nullopt: not an error
//   read_upload_id(body)    read_etag(body)
//   completion({"\"etag 1\"", …}) == "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber>…"
//
// The text is untrusted. Elements nest at most eight deep, a value is at most 8 KB, and document types are
// rejected, which also excludes entity declarations.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compat/buckets/bucket.h"

namespace mayfly::compat::buckets {

std::optional<Listing> read_listing(std::string_view xml);
std::optional<Failure> read_error(std::string_view xml);
std::optional<std::string> read_upload_id(std::string_view xml);
std::optional<std::string> read_etag(std::string_view xml);  // of a completed upload, without quotes

std::string completion(const std::vector<std::string>& etags);
// Removes the quotes that S3 puts around an ETag.
std::string bare_etag(std::string_view etag);

}  // namespace mayfly::compat::buckets
