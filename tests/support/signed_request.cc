#include "tests/support/signed_request.h"

#include "http/outbound/signer.h"

namespace mayfly::testing {

namespace {

http::ClientRequest signed_by_us(const Signing& signing) {
  http::ClientRequest request{.method = signing.method,
                              .path = signing.target,
                              .content_type = "application/x-amz-json-1.0",
                              .headers = signing.headers,
                              .body = signing.body};
  http::sign(request, request.body, *compat::outbound::Url::parse("http://" + signing.host), signing.key,
             {"dynamodb", signing.region}, signing.now);
  return request;
}

}  // namespace

http::Request request_of(std::string_view method, std::string_view target, const Headers& headers,
                         std::string_view body) {
  http::Request request;
  request.keeps_all_headers = true;
  request.method = method;
  request.target = target;
  request.body = body;
  for (const auto& [name, value] : headers) {
    request.add_header(name, value);
    request.all_headers.push_back({name, value});
  }
  return request;
}

http::Request signed_request(const Signing& signing) {
  const http::ClientRequest made = signed_by_us(signing);
  Headers headers = {{"Host", signing.host}, {"Content-Type", made.content_type}};
  headers.insert(headers.end(), made.headers.begin(), made.headers.end());
  return request_of(signing.method, signing.target, headers, signing.body);
}

std::string signed_bytes(const Signing& signing) {
  const http::ClientRequest made = signed_by_us(signing);
  return http::request_head(*compat::outbound::Url::parse("http://" + signing.host), made, made.body.size()) +
         made.body;
}

}  // namespace mayfly::testing
