// Where a mapping sends what its function could not take: an HTTP URL, or a file that gets one line for each.
//
//   "http://127.0.0.1:9000/failed"   "file:///failed/carts.jsonl"   "/failed/carts.jsonl"
//   "arn:aws:sqs:us-east-1:000000000000:failed": whatever is registered as the function "failed"
//   "arn:aws:s3:::failed": the same; a bucket gets the records, too
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compat/outbound/invoker.h"
#include "compat/triggers/functions.h"
#include "engine/expected.h"

namespace mayfly::compat::triggers {

// Whether it is one of these; the error is a sentence for people. DestinationDirectory says which files there
// may be.
Expected<void, std::string> check_destination(std::string_view text);
bool is_bucket(std::string_view destination);
// The call that sends `body` to a destination that is no file; nothing: it cannot be found.
std::optional<outbound::Invocation> call_of(std::string_view destination, std::string_view account,
                                            std::string body, const Functions& functions);

}  // namespace mayfly::compat::triggers
