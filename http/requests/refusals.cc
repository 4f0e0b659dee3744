#include "http/requests/refusals.h"

#include <string>
#include <utility>

#include "compat/control/control.h"
#include "compat/wire/error.h"
#include "http/requests/paths.h"

namespace mayfly::http {
namespace {

Reply unavailable(compat::Error::Kind kind, std::string message) {
  Reply reply;
  reply.status = compat::error_status(kind);
  reply.content_type = plain_json;
  reply.body = compat::error_body({.kind = kind, .message = std::move(message)});
  return reply;
}

}  // namespace

Reply refused(const Request& request, const compat::Error& why) {
  compat::control::Answer answer = compat::control::refusal(why);
  Reply reply;
  reply.status = answer.status;
  reply.content_type = answer.content_type;
  reply.body = std::move(answer.body);
  if (request.path().starts_with(admin_prefix)) end_line(reply);
  reply.extra_headers = "x-amzn-ErrorType: ";  // where Lambda's clients look for the error
  reply.extra_headers += compat::error_name(why.kind);
  reply.extra_headers += "\r\n";
  reply.head_only = request.method == "HEAD";
  return reply;
}

Reply bad_request(std::string_view reason) {
  Reply reply;
  reply.status = 400;
  reply.content_type = "text/plain";
  reply.body = std::string(reason) + "\n";
  reply.close = true;
  return reply;
}

Reply too_slow(std::chrono::milliseconds request_max) {
  Reply reply =
      bad_request("The request took longer than " +
                  std::to_string(std::chrono::duration_cast<std::chrono::seconds>(request_max).count()) +
                  " s to arrive (limit set by --request-seconds-max).");
  reply.status = 408;
  return reply;
}

Reply no_thread() {
  return unavailable(compat::Error::Kind::too_many_waiting,
                     "The server cannot start a thread to wait for this request.");
}

Reply too_many_bytes() {
  return unavailable(compat::Error::Kind::too_many_waiting,
                     "The requests in flight exceed the memory limit (set by --request-bytes-max).");
}

Reply too_many_wait(Waiting kind) {
  return unavailable(compat::Error::Kind::too_many_waiting,
                     "Too many " + std::string(name_of(kind)) +
                         " are waiting, in this account or overall (limit set by --waiting-max).");
}

Reply too_large() {
  Reply reply;
  reply.status = 413;
  reply.chunked = true;
  return reply;
}

}  // namespace mayfly::http
