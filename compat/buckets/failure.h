// What went wrong with a bucket or an object, by S3's name for it: AWS's descriptions of exports and imports
// carry such names ("S3NoSuchBucket").
//
//   failure_code(no_such_bucket()) == "S3NoSuchBucket"
//   failure_message(no_such_bucket()) == "The specified bucket does not exist (Service: Amazon S3; Status "
//       "Code: 404; Error Code: NoSuchBucket; Request ID: null; S3 Extended Request ID: null; Proxy: null)"
//
// An endpoint's own errors keep the name and the words that it sent. What no S3 said has the name that S3 has
// for the like: ServiceUnavailable for an endpoint that cannot be reached, RequestTimeout for one that takes
// too long, InternalError for one that answers what is no answer, and for a disk that is full.
#pragma once

#include <string>

#include "engine/expected.h"

namespace mayfly::compat::buckets {

struct Failure {
  std::string code;     // "NoSuchBucket"
  int status = 0;       // HTTP's, as S3 has it
  std::string message;  // a sentence for people
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
// Of an answer without a body that says more: a HEAD's.
Failure failure_of_status(int status);

// FailureCode and FailureMessage: the developer guide's "Import format quotas and validation" has one whole.
std::string failure_code(const Failure& failure);
std::string failure_message(const Failure& failure);

}  // namespace mayfly::compat::buckets
