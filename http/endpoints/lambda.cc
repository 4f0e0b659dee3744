#include "http/endpoints/lambda.h"

#include <utility>

#include "compat/emulator.h"
#include "compat/triggers/rest.h"
#include "http/access/sigv4.h"

namespace mayfly::http {

namespace {

// A request that is not signed as Lambda requires gets 403; DynamoDB would answer 400.
compat::Answer refuse(const compat::Error& error) {
  compat::Answer answer = compat::triggers::rest_error(error);
  answer.status = 403;
  return answer;
}

compat::Answer answer(const Request& request, compat::Emulator& emulator, const SignatureRules& rules,
                      std::stop_token stop) {
  auto scope = authenticate(request, emulator.region(), rules);
  if (!scope) return refuse(scope.error());
  return compat::triggers::answer_rest(emulator.triggers(),
                                       {.scope = emulator.scope_of(*scope),
                                        .method = request.method,
                                        .path = request.path(),
                                        .query = request.query(),
                                        .body = request.body,
                                        .invocation_type = request.header(Header::x_amz_invocation_type),
                                        .client_context = request.header(Header::x_amz_client_context),
                                        .stop = std::move(stop)});
}

}  // namespace

Reply lambda(const Request& request, compat::Emulator& emulator, const SignatureRules& rules,
             std::stop_token stop) {
  Reply reply = reply_of(answer(request, emulator, rules, std::move(stop)));
  if (reply.body.empty()) reply.content_type = {};
  return reply;
}

}  // namespace mayfly::http
