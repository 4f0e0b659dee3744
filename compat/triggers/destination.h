// Where a mapping sends what its function could not take: an HTTP URL, or a file that gets one line for each.
//
//   "http://127.0.0.1:9000/failed"   "file:///tmp/failed.jsonl"   "/tmp/failed.jsonl"
//   "arn:aws:sqs:us-east-1:000000000000:failed": whatever is registered as the function "failed"
#pragma once

#include <stop_token>
#include <string>
#include <string_view>

#include "compat/triggers/functions.h"
#include "compat/triggers/invoker.h"
#include "engine/expected.h"

namespace mayfly::compat::triggers {

// The error is a sentence for people.
Expected<void, std::string> check_destination(std::string_view text);
// False: it did not take the body, or cannot be found.
bool send_to(std::string_view destination, std::string_view account, const std::string& body, const Functions& functions,
             Invoker& invoker, std::stop_token stop);

}  // namespace mayfly::compat::triggers
