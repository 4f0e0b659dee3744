// Lambda's errors: the type is in a header, the message in the body. Each message is written out in full
// where the error is raised.
//
//   return lambda_error::invalid_parameter("Stream not found: " + arn);
//   // 400, x-amzn-ErrorType: InvalidParameterValueException,
//   // {"Type":"User","message":"Stream not found: arn:…"}
#pragma once

#include <string>

#include "compat/wire/error.h"

namespace mayfly::compat::triggers {

namespace lambda_error {
Unexpected<Error> invalid_parameter(std::string message);        // 400
Unexpected<Error> validation(std::string message);               // 400, violated constraints
Unexpected<Error> invalid_request_content(std::string message);  // 400, invalid JSON
Unexpected<Error> not_found(std::string message);                // 404
Unexpected<Error> conflict(std::string message);                 // 409
Unexpected<Error> request_too_large(std::string message);        // 413
Unexpected<Error> too_many_requests(std::string message);        // 429
Unexpected<Error> unavailable(std::string message);              // 500
Unexpected<Error> bad_gateway(std::string message);              // 502
}  // namespace lambda_error

// {"Type":"User","message":…}. Some exceptions spell the member "Message", and some have no "Type".
std::string lambda_error_body(const Error& error);

}  // namespace mayfly::compat::triggers
