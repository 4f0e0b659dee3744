#include "compat/triggers/lambda_error.h"

#include "compat/wire/json.h"

namespace mayfly::compat::triggers {

namespace lambda_error {

Unexpected<Error> invalid_parameter(std::string message) {
  return {{"InvalidParameterValueException", std::move(message), 400, {}}};
}
Unexpected<Error> validation(std::string message) {
  return {{"ValidationException", std::move(message), 400, {}}};
}
Unexpected<Error> invalid_request_content(std::string message) {
  return {{"InvalidRequestContentException", std::move(message), 400, {}}};
}
Unexpected<Error> not_found(std::string message) {
  return {{"ResourceNotFoundException", std::move(message), 404, {}}};
}
Unexpected<Error> conflict(std::string message) {
  return {{"ResourceConflictException", std::move(message), 409, {}}};
}
Unexpected<Error> request_too_large(std::string message) {
  return {{"RequestEntityTooLargeException", std::move(message), 413, {}}};
}
Unexpected<Error> too_many_requests(std::string message) {
  return {{"TooManyRequestsException", std::move(message), 429, {}}};
}
Unexpected<Error> unavailable(std::string message) {
  return {{"ServiceException", std::move(message), 500, {}}};
}
Unexpected<Error> bad_gateway(std::string message) {
  return {{"ServiceException", std::move(message), 502, {}}};
}

}  // namespace lambda_error

std::string lambda_error_body(const Error& error) {
  const bool has_type = error.type != "ValidationException" && error.type != "SerializationException";
  std::string body;
  json::Writer out(body);
  out.begin_object();
  if (has_type) {
    out.key("Type");
    out.string(error.status < 500 ? "User" : "Service");
  }
  out.key(error.type == "ResourceNotFoundException" || error.type == "ServiceException" ? "Message"
                                                                                        : "message");
  out.string(error.message);
  out.end_object();
  return body;
}

}  // namespace mayfly::compat::triggers
