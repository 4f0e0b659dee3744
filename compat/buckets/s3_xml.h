// S3's XML, by Expat: listings, errors, and what uploads in parts are answered.
//
//   read_listing(body)      -> objects and the next token; nothing: the text is none, or says what no key is
//   read_error(body)        -> its Code, Message, RequestId, HostId; nothing: it is no error
//   read_upload_id(body)    read_etag(body)
//   completion({"\"etag 1\"", …}) == "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber>…"
//
// Of the text nothing is believed: elements nest eight deep at most, a value has 8 KB, document types are
// refused, and with them entities that anybody declares.
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
// Without the quotes that S3 puts around it.
std::string bare_etag(std::string_view etag);

}  // namespace mayfly::compat::buckets
