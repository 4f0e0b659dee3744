// The destination of a mapping's failed batches: an HTTP URL, or a file that gets one line for each batch.
//
//   "http://127.0.0.1:9000/failed"   "file:///failed/carts.jsonl"   "/failed/carts.jsonl"
//   "arn:aws:sqs:us-east-1:000000000000:failed": the endpoint registered as the function "failed"
//   "arn:aws:s3:::failed": the same; a bucket also gets the records
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compat/lambda/functions.h"
#include "compat/outbound/invoker.h"
#include "engine/base/expected.h"

namespace mayfly::compat::triggers {

// Checks that the string has one of these forms. The error is a human-readable message. DestinationDirectory
// decides which files are allowed.
Expected<void, std::string> check_destination(std::string_view text);
bool is_bucket(std::string_view destination);
// Returns the call that sends `body` to a destination other than a file, or nullopt if no function of that
// name is registered.
std::optional<outbound::Invocation> call_of(std::string_view destination, std::string_view account,
                                            std::string body, const Functions& functions);

}  // namespace mayfly::compat::triggers
