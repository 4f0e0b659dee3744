#include "compat/lambda/lambda_error.h"

#include "compat/json/json.h"

namespace mayfly::compat::triggers {

namespace lambda_error {

Unexpected<Error> invalid_parameter(std::string message) {
  return {{Error::Kind::lambda_invalid_parameter, std::move(message)}};
}
Unexpected<Error> validation(std::string message) {
  return {{Error::Kind::lambda_validation, std::move(message)}};
}
Unexpected<Error> invalid_request_content(std::string message) {
  return {{Error::Kind::lambda_invalid_request_content, std::move(message)}};
}
Unexpected<Error> not_found(std::string message) {
  return {{Error::Kind::lambda_not_found, std::move(message)}};
}
Unexpected<Error> conflict(std::string message) {
  return {{Error::Kind::lambda_conflict, std::move(message)}};
}
Unexpected<Error> request_too_large(std::string message) {
  return {{Error::Kind::lambda_request_too_large, std::move(message)}};
}
Unexpected<Error> too_many_requests(std::string message) {
  return {{Error::Kind::lambda_too_many_requests, std::move(message)}};
}
Unexpected<Error> unavailable(std::string message) {
  return {{Error::Kind::lambda_unavailable, std::move(message)}};
}
Unexpected<Error> bad_gateway(std::string message) {
  return {{Error::Kind::lambda_bad_gateway, std::move(message)}};
}

}  // namespace lambda_error

std::string lambda_error_body(const Error& error) {
  const bool has_type =
      error.kind != Error::Kind::lambda_validation && error.kind != Error::Kind::lambda_serialization;
  std::string body;
  json::Writer out(body);
  out.begin_object();
  if (has_type) {
    out.key("Type");
    out.string(error_status(error.kind) < 500 ? "User" : "Service");
  }
  out.key(message_member(error.kind));
  out.string(error.message);
  out.end_object();
  return body;
}

}  // namespace mayfly::compat::triggers
