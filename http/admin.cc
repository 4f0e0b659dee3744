#include "http/admin.h"

namespace mayfly::http {

std::optional<Reply> admin(const Request& request, compat::Emulator&) {
  if (request.path() == "/_mayfly/health" && (request.method == "GET" || request.method == "HEAD")) {
    Reply reply;
    reply.content_type = "application/json";
    reply.body = R"({"status":"ok","version":")" MAYFLY_VERSION R"("})";
    return reply;
  }
  return std::nullopt;
}

}  // namespace mayfly::http
