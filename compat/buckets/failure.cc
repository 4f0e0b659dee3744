#include "compat/buckets/failure.h"

#include <utility>

namespace mayfly::compat::buckets {

// Names, statuses and messages are from "Error responses" in S3's API reference.
Failure no_such_bucket() { return {"NoSuchBucket", 404, "The specified bucket does not exist"}; }
Failure no_such_key() { return {"NoSuchKey", 404, "The specified key does not exist."}; }
Failure access_denied() { return {"AccessDenied", 403, "Access Denied"}; }
Failure key_too_long() { return {"KeyTooLongError", 400, "Your key is too long"}; }
Failure invalid_argument(std::string message) { return {"InvalidArgument", 400, std::move(message)}; }
Failure entity_too_large() {
  return {"EntityTooLarge", 400, "Your proposed upload exceeds the maximum allowed object size."};
}
Failure changed_meanwhile() {
  return {"PreconditionFailed", 412, "At least one of the pre-conditions you specified did not hold"};
}
Failure internal_error(std::string message) { return {"InternalError", 500, std::move(message)}; }
Failure service_unavailable(std::string message) { return {"ServiceUnavailable", 503, std::move(message)}; }
Failure request_timeout(std::string message) { return {"RequestTimeout", 400, std::move(message)}; }

Failure failure_of_status(int status) {
  if (status == 404) return no_such_key();
  if (status == 403) return access_denied();
  if (status == 412) return changed_meanwhile();
  Failure failure = internal_error("The bucket's endpoint answered with status " + std::to_string(status));
  failure.status = status;
  return failure;
}

std::string failure_code(const Failure& failure) { return "S3" + failure.code; }

std::string failure_message(const Failure& failure) {
  const auto or_null = [](const std::string& text) { return text.empty() ? "null" : text; };
  return failure.message + " (Service: Amazon S3; Status Code: " + std::to_string(failure.status) +
         "; Error Code: " + failure.code + "; Request ID: " + or_null(failure.request_id) +
         "; S3 Extended Request ID: " + or_null(failure.extended_request_id) + "; Proxy: null)";
}

}  // namespace mayfly::compat::buckets
