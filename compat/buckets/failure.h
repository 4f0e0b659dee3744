// A bucket's failure, with S3's name for it. AWS's descriptions of exports and imports contain such names
// ("S3NoSuchBucket").
//
//   failure_code(no_such_bucket()) == "S3NoSuchBucket"
//   failure_message(no_such_bucket()) == "The specified bucket does not exist (Service: Amazon S3; Status "
//       "Code: 404; Error Code: NoSuchBucket; Request ID: null; S3 Extended Request ID: null; Proxy: null)"
//
// An endpoint's own errors keep the name and message that it sent. Other failures get the S3 name that fits
// best:
// - ServiceUnavailable: the endpoint cannot be reached.
// - RequestTimeout: the endpoint takes too long.
// - InternalError: the endpoint's response is invalid, or the disk is full.
#pragma once

#include <string>

#include "engine/base/expected.h"

namespace mayfly::compat::buckets {

struct Failure {
  std::string code;     // "NoSuchBucket"
  int status = 0;       // the HTTP status that S3 uses
  std::string message;  // human-readable
  std::string request_id{}, extended_request_id{};
};

template <class T>
using Outcome = Expected<T, Failure>;

Failure no_such_bucket();
Failure no_such_key();
Failure access_denied();
Failure key_too_long();
Failure invalid_argument(std::string message);
Failure entity_too_large();
Failure changed_meanwhile();
Failure internal_error(std::string message);
Failure service_unavailable(std::string message);
Failure request_timeout(std::string message);
// Returns the failure for a response whose body does not describe the error, such as a response to HEAD.
Failure failure_of_status(int status);

// Return the values of FailureCode and FailureMessage. The developer guide's "Import format quotas and
// validation" shows a complete example.
std::string failure_code(const Failure& failure);
std::string failure_message(const Failure& failure);

}  // namespace mayfly::compat::buckets
